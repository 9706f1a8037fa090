#include <algorithm>

#include "report/flow_parts.h"

namespace svod {

void Handover::connect(size_t from, size_t to, int64_t buffer) {
  if (connected_.insert({from, to, buffer}).second) edges_.push_back({from, to, buffer});
}

void Handover::read(int64_t buffer, size_t node) {
  for (size_t writer : contents_[buffer].writers)
    if (writer != node) connect(writer, node, buffer);
  contents_[buffer].wasRead = true;
  for (OpenLoop& open : loops_) open.reads.emplace_back(buffer, node);
}

void Handover::write(int64_t buffer, size_t node) {
  Contents& held = contents_[buffer];
  // Writers one after the other, with nobody who reads between them, write parts of a value.
  if (held.wasRead || isAsBefore(buffer)) held.writers.clear();
  held.writers.push_back(node), held.wasRead = false;
  for (OpenLoop& open : loops_) open.writes.emplace_back(buffer, node);
}

void Handover::leaveLoop() {
  for (const auto& [buffer, reader] : loops_.back().reads)
    for (size_t writer : contents_[buffer].writers)
      if (writer >= reader && std::ranges::count(loops_.back().writes, std::pair{buffer, writer}) > 0)
        connect(writer, reader, buffer);
  loops_.pop_back();
}

void Handover::end(int64_t buffer, size_t node) {
  for (size_t writer : contents_[buffer].writers) connect(writer, node, buffer);
}

bool Handover::isAsBefore(int64_t buffer) const {
  const auto held = contents_.find(buffer);
  const auto before = initial_.find(buffer);
  return held != contents_.end() && before != initial_.end() && held->second.writers == std::vector{before->second};
}

}  // namespace svod
