#include "frontend/build_log.h"

#include <algorithm>
#include <utility>

namespace svod {

BuildLog::Step* BuildRecorder::add(BuildLog::Kind kind, std::string_view name, size_t at,
                                   std::vector<BuildLog::Operand> operands) {
  if (!log_) return nullptr;
  BuildLog::Step step;
  step.kind = kind;
  step.at = static_cast<uint32_t>(at);
  step.name = name;
  step.operands = std::move(operands);
  log_->steps.push_back(std::move(step));
  return &log_->steps.back();
}

BuildLog::Step* BuildRecorder::addBeforeCall(BuildLog::Kind kind, std::string_view name, size_t at) {
  BuildLog::Step* step = add(kind, name, at);
  if (!step || !openCall_) return step;
  step->at = log_->steps[*openCall_].at;
  std::rotate(log_->steps.begin() + static_cast<std::ptrdiff_t>(*openCall_), log_->steps.end() - 1, log_->steps.end());
  return &log_->steps[(*openCall_)++];
}

BuildLog::Step& BuildRecorder::closeCall() {
  BuildLog::Step& step = log_->steps[*openCall_];
  openCall_.reset();
  return step;
}

void BuildRecorder::dropStatements(size_t first) {
  if (!log_) return;
  auto isStatement = [](const BuildLog::Step& s) {
    return s.kind != BuildLog::Kind::Call && s.kind != BuildLog::Kind::Note;
  };
  auto from = log_->steps.begin() + static_cast<std::ptrdiff_t>(std::min(first, log_->steps.size()));
  log_->steps.erase(std::remove_if(from, log_->steps.end(), isStatement), log_->steps.end());
}

void placeNodes(BuildLog& log, size_t nodes) {
  std::vector<uint32_t> places(nodes, UINT32_MAX);
  uint32_t next = 0;
  auto place = [&](UOp root) {
    std::vector<UOp> stack{root};
    while (!stack.empty()) {
      UOp node = stack.back();
      size_t waiting = stack.size();
      if (places[node.id()] == UINT32_MAX)
        for (UOp s : node.src())
          if (places[s.id()] == UINT32_MAX) stack.push_back(s);
      if (stack.size() > waiting) continue;
      stack.pop_back();
      if (places[node.id()] == UINT32_MAX) places[node.id()] = next++;
    }
  };
  for (BuildLog::Step& s : log.steps) {
    for (const BuildLog::Operand& o : s.operands) place(o.node);
    s.at = next;
    std::ranges::for_each(s.results, place);
    if (s.effect) place(s.effect);
  }
  log.places = std::move(places);
}

}  // namespace svod
