#include "onnx/problem_list.h"

#include <algorithm>
#include <utility>

#include "onnx/importer_text.h"

namespace svod {

namespace {

constexpr size_t kMaxErrors = 1000;

}  // namespace

void ProblemList::add(Error error, size_t at) {
  if (errors_.empty()) firstAt_ = at;
  ++count_;
  if (error->loc.file.empty()) error->loc.file = file_;
  if (errors_.size() < kMaxErrors) errors_.push_back(printable(std::move(error)));
  isFull_ |= errors_.size() >= kMaxErrors;
}

bool ProblemList::isRepeated(const std::string& kind) {
  if (isFull_) {  // no error follows that could be the first of its kind
    ++count_;
    return true;
  }
  auto [it, isNew] = repeated_.try_emplace(kind, Repeated{errors_.size()});
  if (isNew) return false;
  ++count_;
  ++it->second.again;
  return true;
}

std::vector<Error> ProblemList::errors() const {
  std::vector<Error> said = errors_;
  for (const auto& [kind, repeated] : repeated_)
    if (repeated.again > 0)
      said[repeated.error]->notes.push_back("the same in " + std::to_string(repeated.again) +
                                            (repeated.again == 1 ? " more node" : " more nodes"));
  return said;
}

void ProblemList::addNote(Error note) { notes_.push_back(printable(std::move(note))); }

bool ProblemList::areLimitsSince(const Mark& mark) const {
  return std::all_of(errors_.begin() + static_cast<ptrdiff_t>(mark.errors), errors_.end(),
                     [](const Error& e) { return e->diag == Diag::Unsupported; });
}

std::vector<Error> ProblemList::errorsSince(const Mark& mark) const {
  return {errors_.begin() + static_cast<ptrdiff_t>(mark.errors), errors_.end()};
}

void ProblemList::rewind(Mark mark) {
  errors_.erase(errors_.begin() + static_cast<ptrdiff_t>(mark.errors), errors_.end());
  count_ = mark.count;
  repeated_ = std::move(mark.repeated);
  isFull_ = mark.isFull;
}

}  // namespace svod
