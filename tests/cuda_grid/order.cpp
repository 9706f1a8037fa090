#include "cuda_grid/order.h"

#include <algorithm>

namespace svod {

namespace {

void addTo(std::vector<bool>& known, const std::vector<bool>& more) {
  if (known.size() < more.size()) known.resize(more.size());
  for (size_t i = 0; i < more.size(); ++i)
    if (more[i]) known[i] = true;
}
void keepOf(std::vector<bool>& known, const std::vector<bool>& other) {
  for (size_t i = 0; i < known.size(); ++i) known[i] = known[i] && i < other.size() && other[i];
}

}  // namespace

void Knowledge::join(const Knowledge& other) {
  all = std::max(all, other.all);
  addTo(copies, other.copies);
  addTo(seen, other.seen);
}

void Knowledge::keepCommon(const Knowledge& other) {
  if (other.all < all) all = other.all, fenced = other.fenced;
  keepOf(copies, other.copies);
  keepOf(seen, other.seen);
}

Shadow::Shadow(uint64_t bytes, bool startsUnknown)
    : startsUnknown_(startsUnknown), cells_((bytes + unit_ - 1) / unit_) {}

void Shadow::forget() { std::ranges::fill(cells_, Cell{}); }

void Shadow::refine(uint32_t unit) {
  std::vector<Cell> cells;
  cells.reserve(cells_.size() * (unit_ / unit));
  for (const Cell& cell : cells_) cells.insert(cells.end(), unit_ / unit, cell);
  cells_ = std::move(cells), unit_ = unit;
}

const std::string* Shadow::explain(uint64_t cell, bool writes, const Access& access, const char* what) {
  const auto nameOf = [](Agent agent) {
    return (agent.isCopies() ? "group " : "thread ") + std::to_string(agent.index());
  };
  const Cell& at = cells_[cell];
  const std::string who = std::string(what) + " of " + nameOf(access.agent), byte = std::to_string(cell * unit_);
  if (startsUnknown_ && !writes && at.writer.agent.number == 0) {
    wrong_ = "UNINITIALIZED: " + who + " reads byte " + byte + ", which nobody wrote";
    return &wrong_;
  }
  if (access.isBehindFence && isKnown(at.writer, access) && !isSeen(at.writer, access)) {
    wrong_ = "PROXY: " + who + (writes ? " overwrites byte " : " reads byte ") + byte + ", which " +
             nameOf(at.writer.agent) + " wrote with no fence for it";
    return &wrong_;
  }
  const bool isOfWriter = !isKnown(at.writer, access);
  const Mark& other = isOfWriter ? at.writer : isKnown(at.readers[0], access) ? at.readers[1] : at.readers[0];
  wrong_ = "RACE: " + who + " touches byte " + byte + ", which " + nameOf(other.agent) +
           (isOfWriter ? " wrote" : " reads") + ", with nothing in between";
  return &wrong_;
}

}  // namespace svod
