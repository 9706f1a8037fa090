#include "plan/memory_plan.h"

#include <algorithm>
#include <numeric>

#include "plan/lifetimes.h"

namespace svod {

namespace {

constexpr std::string_view kModeNames[] = {"arena", "remap", "off"};
constexpr uint64_t kRemapClass = 4096;       // a buffer of this class of sizes may take the place of a larger one
constexpr uint32_t kMostExactSteps = 32768;  // beyond it the ancestor bits of all steps take too much memory

uint64_t roundUp(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

class Planner {
 public:
  /// With `byProgramOrder`, steps count as ordered by their index, and missing orders are added at the end.
  Planner(const MemoryProblem& problem, MemoryMode mode, bool byProgramOrder)
      : problem_(problem), mode_(mode), byProgramOrder_(byProgramOrder), lives_(problem, byProgramOrder),
        pairsOf_(problem.sizes.size()), offsets_(problem.sizes.size(), 0), isPlaced_(problem.sizes.size(), false) {
    for (uint32_t i = 0; i < problem.inPlace.size(); i++)
      for (uint32_t buffer : {problem.inPlace[i].source, problem.inPlace[i].result}) pairsOf_[buffer].push_back(i);
  }

  MemoryLayout run() {
    MemoryLayout layout;
    for (uint32_t buffer : placementOrder()) place(buffer);
    layout.offsets = offsets_;
    layout.report.mode = std::string(nameOf(mode_));
    layout.report.peakBytes = arena_;
    for (uint32_t buffer = 0; buffer < problem_.sizes.size(); buffer++) layout.report.unplannedBytes += room(buffer);
    layout.report.lowerBoundBytes = lowerBound();
    layout.inPlace = inPlace_;
    std::ranges::sort(layout.inPlace, {}, &PlacePair::result);
    if (byProgramOrder_) layout.addedEdges = missingEdges();
    layout.report.addedEdges = layout.addedEdges.size();
    return layout;
  }

 private:
  /// Bytes it takes up in the arena.
  uint64_t room(uint32_t buffer) const { return roundUp(problem_.sizes[buffer], kPlanAlignment); }
  bool mayShare(uint32_t a, uint32_t b) const { return mode_ != MemoryMode::Off && lives_.areApart(a, b); }

  /// Large ones first: small ones fit into what they leave. Ties by birth, then index.
  std::vector<uint32_t> placementOrder() const {
    std::vector<uint32_t> order;
    for (uint32_t buffer = 0; buffer < problem_.sizes.size(); buffer++)
      if (lives_.isUsed(buffer) && problem_.sizes[buffer] > 0) order.push_back(buffer);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      if (room(a) != room(b)) return room(a) > room(b);
      return std::pair(lives_.firstUser(a), a) < std::pair(lives_.firstUser(b), b);
    });
    return order;
  }

  struct Interval {
    uint64_t begin, end;
  };
  /// The places of buffers that `buffer` must not touch, by offset, those that meet as one; `except` is allowed.
  std::vector<Interval> forbidden(uint32_t buffer, uint32_t except) const {
    std::vector<Interval> out;
    for (uint32_t other : byOffset_) {
      if (other == except || mayShare(buffer, other)) continue;
      const uint64_t begin = offsets_[other], end = begin + room(other);
      if (out.empty() || begin > out.back().end)
        out.push_back({begin, end});
      else
        out.back().end = std::max(out.back().end, end);
    }
    return out;
  }

  bool placeInPlace(uint32_t buffer) {
    if (mode_ == MemoryMode::Off) return false;
    for (uint32_t index : pairsOf_[buffer]) {
      // Whichever of the two is placed second goes where the other one lies.
      const PlacePair& pair = problem_.inPlace[index];
      const uint32_t other = pair.result == buffer ? pair.source : pair.result;
      if (other == buffer || !isPlaced_[other] || room(pair.result) > room(pair.source) ||
          !lives_.diesWith(pair.source, pair.result))
        continue;
      const uint64_t begin = offsets_[other], end = begin + room(buffer);
      const std::vector<Interval> taken = forbidden(buffer, other);
      if (std::any_of(taken.begin(), taken.end(), [&](const Interval& i) { return i.begin < end && begin < i.end; }))
        continue;
      put(buffer, begin);
      inPlace_.push_back(pair);
      return true;
    }
    return false;
  }

  void put(uint32_t buffer, uint64_t offset) {
    offsets_[buffer] = offset;
    arena_ = std::max(arena_, offset + room(buffer));
    placed_.push_back(buffer);
    isPlaced_[buffer] = true;
    const auto after = [&](uint64_t value, uint32_t other) { return value < offsets_[other]; };
    byOffset_.insert(std::upper_bound(byOffset_.begin(), byOffset_.end(), offset, after), buffer);
  }

  void place(uint32_t buffer) {
    if (placeInPlace(buffer)) return;
    const std::vector<Interval> taken = forbidden(buffer, buffer);
    put(buffer, mode_ == MemoryMode::Remap ? wholePlace(buffer, taken) : bestGap(buffer, taken));
  }

  /// The smallest gap that is large enough, the lowest of equals; at the end of the arena if there is none.
  uint64_t bestGap(uint32_t buffer, const std::vector<Interval>& taken) const {
    uint64_t at = 0, best = UINT64_MAX, bestSize = UINT64_MAX;
    for (const Interval& interval : taken) {
      if (interval.begin > at && interval.begin - at >= room(buffer) && interval.begin - at < bestSize)
        best = at, bestSize = interval.begin - at;
      at = std::max(at, interval.end);
    }
    if (arena_ > at && arena_ - at >= room(buffer) && arena_ - at < bestSize) return at;
    return best != UINT64_MAX ? best : at;
  }

  /// The place of an earlier buffer of the same class, which is no smaller, or a new one.
  uint64_t wholePlace(uint32_t buffer, const std::vector<Interval>& taken) const {
    for (uint32_t other : placed_) {
      const uint64_t begin = offsets_[other];
      if (roundUp(room(other), kRemapClass) == roundUp(room(buffer), kRemapClass) &&
          std::none_of(taken.begin(), taken.end(),
                       [&](const Interval& i) { return i.begin <= begin && begin < i.end; }))
        return begin;
    }
    return arena_;
  }

  uint64_t lowerBound() const {
    std::vector<int64_t> change(problem_.steps.size() + 1, 0);
    for (uint32_t buffer = 0; buffer < problem_.sizes.size(); buffer++) {
      if (!lives_.isUsed(buffer)) continue;
      const auto bytes = static_cast<int64_t>(roundUp(problem_.sizes[buffer], kPlanAlignment));
      change[lives_.firstUser(buffer)] += bytes;
      change[lives_.lastUser(buffer) + 1] -= bytes;
    }
    int64_t live = 0, most = 0;
    for (int64_t delta : change) most = std::max(most, live += delta);
    // A buffer written in place of another one makes the sweep count both.
    return std::min(static_cast<uint64_t>(most), arena_);
  }

  /// Orders between the tenants of shared bytes that the dependencies do not give.
  std::vector<std::pair<uint32_t, uint32_t>> missingEdges() const {
    std::vector<std::vector<BufferAccess>> placedAccesses(problem_.steps.size());
    for (uint32_t step = 0; step < problem_.steps.size(); step++)
      for (const BufferAccess& access : problem_.steps[step])
        placedAccesses[step].push_back(
            {0, offsets_[access.storage] + access.begin, offsets_[access.storage] + access.end, access.mode});
    std::vector<std::pair<uint32_t, uint32_t>> needed = hazardPairs(placedAccesses), missing;
    const auto count = static_cast<uint32_t>(problem_.deps.size());
    auto pair = needed.begin();
    for (uint32_t begin = 0; begin < count; begin += kAncestorRange) {
      const uint32_t end = std::min(count, begin + kAncestorRange);
      const Ancestors ancestors(problem_.deps, begin, end);
      for (; pair != needed.end() && pair->first < end; ++pair)
        if (!ancestors.precedes(pair->first, pair->second)) missing.push_back(*pair);
    }
    return missing;
  }

  const MemoryProblem& problem_;
  MemoryMode mode_;
  bool byProgramOrder_;
  Lifetimes lives_;
  std::vector<std::vector<uint32_t>> pairsOf_;  // by buffer: indices into problem_.inPlace
  std::vector<uint64_t> offsets_;
  std::vector<bool> isPlaced_;
  std::vector<uint32_t> placed_, byOffset_;  // in the order of placement, and by offset
  std::vector<PlacePair> inPlace_;           // those that were used
  uint64_t arena_ = 0;
};

}  // namespace

std::string_view nameOf(MemoryMode mode) { return kModeNames[static_cast<size_t>(mode)]; }

std::optional<MemoryMode> memoryModeFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kModeNames); i++)
    if (kModeNames[i] == name) return static_cast<MemoryMode>(i);
  return std::nullopt;
}

MemoryLayout placeBuffers(const MemoryProblem& problem, MemoryMode mode) {
  const bool tooLong = problem.deps.size() > kMostExactSteps && mode != MemoryMode::Off;
  MemoryLayout layout = Planner(problem, mode, tooLong).run();
  if (tooLong || mode == MemoryMode::Off || layout.report.peakBytes <= problem.budgetBytes) return layout;
  MemoryLayout tighter = Planner(problem, mode, true).run();
  return tighter.report.peakBytes < layout.report.peakBytes ? tighter : layout;
}

}  // namespace svod
