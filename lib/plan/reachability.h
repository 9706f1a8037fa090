// Which step comes before which, over dependency lists where every dependency has a smaller index.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace svod {

using DepLists = std::vector<std::vector<uint32_t>>;  // one list per step

/// Steps `begin` to `end`, the latter not included.
struct StepRange {
  uint32_t begin, end;
};

/// The ancestors among steps [begin, end) of every step, as bits. Costs steps * (end - begin) / 8 bytes, so
/// long plans are walked in ranges of kAncestorRange.
class Ancestors {
 public:
  Ancestors(const DepLists& deps, uint32_t begin, uint32_t end);
  /// Whether `first`, which lies in [begin, end), always finishes before `then` starts.
  bool precedes(uint32_t first, uint32_t then) const {
    const uint32_t bit = first - begin_;
    return (bits_[static_cast<size_t>(then) * words_ + bit / 64] >> (bit % 64) & 1) != 0;
  }
  /// The largest n such that all steps of [begin, n) precede `then`.
  uint32_t prefix(uint32_t then) const;
  /// The last steps in a row that precede `then`: no step from its end on does. Empty where none precedes it.
  StepRange lastRun(uint32_t then) const;

 private:
  uint32_t begin_;
  size_t words_;  // 64-bit words per step
  std::vector<uint64_t> bits_;
};
inline constexpr uint32_t kAncestorRange = 4096;

/// Sorts every list and drops what other dependencies imply.
void transitiveReduction(DepLists& deps);

/// The first of `pairs` (first, then) that the dependencies do not order, or null. Sorts `pairs`.
const std::pair<uint32_t, uint32_t>* findUnordered(const DepLists& deps,
                                                   std::vector<std::pair<uint32_t, uint32_t>>& pairs);

}  // namespace svod
