#include "onnx/problem_list.h"

#include <algorithm>
#include <utility>

#include "onnx/importer_text.h"

namespace svod {

namespace {

constexpr size_t kMaxErrors = 1000;

}  // namespace

void ProblemList::add(Error error) {
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
  Error& first = errors_[it->second.error];
  std::string note = "the same in " + std::to_string(it->second.count++) + " more nodes";
  if (first->notes.back().starts_with("the same")) first->notes.pop_back();
  first->notes.push_back(std::move(note));
  return true;
}

void ProblemList::addNote(Error note) { notes_.push_back(printable(std::move(note))); }

bool ProblemList::areLimitsSince(const Mark& mark) const {
  return std::all_of(errors_.begin() + static_cast<ptrdiff_t>(mark.errors), errors_.end(),
                     [](const Error& e) { return e->diag == Diag::Unsupported; });
}

void ProblemList::rewind(Mark mark) {
  errors_.erase(errors_.begin() + static_cast<ptrdiff_t>(mark.errors), errors_.end());
  count_ = mark.count;
  repeated_ = std::move(mark.repeated);
  isFull_ = mark.isFull;
}

}  // namespace svod
