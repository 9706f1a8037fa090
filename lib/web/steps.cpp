#include "web/steps.h"

#include <algorithm>

namespace svod::web {

namespace {

/// In parentheses where it has parts.
std::string grouped(const std::string& text) { return text.find(' ') == text.npos ? text : "(" + text + ")"; }

}  // namespace

std::string StepsText::text() {
  std::vector<StepId> ends;  // of the loops that are open
  const auto close = [&](StepId id) {
    while (!ends.empty() && ends.back() == id) ends.pop_back(), depth_--, line("}");
  };
  for (StepId id = 0; id < plan_.steps.size(); id++) {
    close(id);
    if (const auto* loop = std::get_if<Loop>(&plan_.steps[id].action)) ends.push_back(id + 1 + loop->length);
    printStep(plan_.steps[id]);
  }
  close(StepId(plan_.steps.size()));
  const std::string head = isAsync_ ? "async function" : "function";
  return head + " steps(run, " + names_.parameter() + ") {\n  const { arenas, inputs, outputs } = run;\n" + text_ +
         "}\n";
}

/// "ARENA, arenas[0][3]"
std::string StepsText::memoryAndPlace(BufferId id) const {
  const WebPlace& at = layout_.buffers[id];
  return layout_.memories[at.memory].name + ", " + placeText(at);
}

void StepsText::printStep(const Step& step) {
  if (const auto* loop = std::get_if<Loop>(&step.action)) printLoop(*loop);
  if (const auto* launch = std::get_if<Launch>(&step.action)) printCases(*launch);
  if (const auto* copy = std::get_if<Copy>(&step.action))
    line("run.copy(" + memoryAndPlace(copy->dst) + ", " + memoryAndPlace(copy->src) + ", " + names_.expr(copy->bytes) +
         ");");
}

void StepsText::printLoop(const Loop& loop) {
  const std::string& name = names_.variable(loop.variable);
  line("for (let " + name + " = 0; " + name + " < " + names_.expr(loop.trips) + "; " + name + "++) {");
  depth_++;
  if (!loop.condition) return;
  isAsync_ = true;
  line("if (!(await run.holds(" + memoryAndPlace(*loop.condition) + "))) break;");
}

std::string StepsText::condition(const LaunchCase& one) const {
  std::string text;
  for (const SizeRange& range : one.when) {
    const std::string size = grouped(names_.expr(range.size)), least = std::to_string(range.min);
    if (!text.empty()) text += " && ";
    text += range.min == range.max ? size + " === " + least
                                   : size + " >= " + least + " && " + size + " <= " + std::to_string(range.max);
  }
  return text.empty() ? "true" : text;
}

void StepsText::printCases(const Launch& launch) {
  if (launch.cases.empty()) return printLaunch(launch);
  std::string begin = "if (";
  for (const LaunchCase& one : launch.cases) {
    line(begin + condition(one) + ") {");
    depth_++, printLaunch(one.launch), depth_--;
    begin = "} else if (";
  }
  line("} else {");
  depth_++, printLaunch(launch), depth_--;
  line("}");
}

void StepsText::printLaunch(const Launch& launch) {
  const KernelDesc& kernel = plan_.kernels[launch.kernel];
  std::vector<std::string> values;
  for (const Expr& value : launch.values) values.push_back(grouped(names_.expr(value)));
  const auto list = [](const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
    return "[" + text + "]";
  };
  std::vector<std::string> groups, places, given;
  for (const Expr& along : kernel.grid->groups) groups.push_back(exprText(along, values));
  for (const BufferId id : launch.buffers) places.push_back(placeText(layout_.buffers[id]));
  for (const Expr& value : launch.values) given.push_back(names_.expr(value));
  line("run.launch(" + std::to_string(placed(launch)) + ", " + list(groups) + ", " + list(places) + ", " + list(given) +
       ");  // " + inComment(kernel.name));
}

/// Arguments in one memory share a binding.
uint32_t StepsText::placed(const Launch& launch) {
  std::vector<uint32_t> memoryOf;
  for (const BufferId id : launch.buffers) memoryOf.push_back(layout_.buffers[id].memory);
  const auto [known, isNew] =
      known_.try_emplace({static_cast<uint32_t>(launch.kernel), memoryOf}, static_cast<uint32_t>(kernels_.size()));
  if (!isNew) return known->second;
  PlacedKernel made{launch.kernel, {}, {}};
  for (const uint32_t memory : memoryOf) {
    const auto found = std::ranges::find(made.memories, memory);
    made.bindingOf.push_back(static_cast<uint32_t>(found - made.memories.begin()));
    if (found == made.memories.end()) made.memories.push_back(memory);
  }
  kernels_.push_back(std::move(made));
  return known->second;
}

}  // namespace svod::web
