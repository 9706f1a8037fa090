#include "cost/traffic.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cost/parameters.h"

namespace svod {

namespace {

struct Step {
  double bytes;  // from one iteration to the next; negative: not known
  double extent;
};

// What a touch does along each of its loops.
struct Walk {
  std::vector<Step> steps;  // outermost first
  double element, most;     // bytes of one element and of all of the storage
};

double storageBytes(UOp storage) {
  if (storage.srcCount() == 0) return 1e18;
  const double count = static_cast<double>(storage.src(0).bounds().max);
  return std::max(count, 1.0) * static_cast<double>(byteSize(storage.dtype()));
}

Walk walkOf(const Touch& touch, const Caps& caps) {
  const UOp value = touch.access.isStore ? touch.access.node.src(1) : touch.access.node;
  Walk walk{{}, static_cast<double>(byteSize(value.dtype())), storageBytes(touch.storage)};
  std::vector<size_t> inOrder;
  for (UOp r : touch.loops) {
    const std::optional<Pace> moves = paceOf(touch.access, r);
    // A weight is stored in the order in which it is read.
    const bool isInOrder = isLaidOut(touch.access, caps) && touch.access.address.dependsOn(r);
    if (isInOrder) inOrder.push_back(walk.steps.size());
    walk.steps.push_back({moves ? std::abs(moves->average) * walk.element : -1, extentOf(r)});
  }
  double span = walk.element;
  for (size_t i = inOrder.size(); i-- > 0;) {
    Step& step = walk.steps[inOrder[i]];
    step.bytes = span, span *= step.extent;
  }
  return walk;
}

struct Footprint {
  double bytes;    // of lines, each counted once
  double crowded;  // the same, counted more often where strides let many lines compete for few places of a cache
};

// What the loops from `first` on touch.
Footprint footprintOf(const Walk& walk, size_t first, double places, const Caps& caps) {
  const auto line = static_cast<double>(caps.lineBytes);
  std::vector<Step> moving;
  double pieces = 1, span = walk.element, widest = 0;
  for (size_t i = first; i < walk.steps.size(); ++i)
    if (walk.steps[i].bytes < 0)
      pieces *= walk.steps[i].extent;
    else if (walk.steps[i].bytes > 0 && walk.steps[i].extent > 1)
      moving.push_back(walk.steps[i]);
  std::ranges::sort(moving, {}, &Step::bytes);
  for (const Step& step : moving)
    if (step.bytes <= std::max(span, line))
      span += step.bytes * (step.extent - 1);
    else
      pieces *= step.extent, widest = widest == 0 ? step.bytes : widest;
  const double bytes = std::min(pieces * std::ceil(span / line) * line, std::max(walk.most, line));
  return {bytes, bytes * crowding(widest, pieces, std::ceil(span / line), places, caps)};
}

// Bytes that are read in order before the address jumps.
double runBytes(const Walk& walk, double line) {
  double span = walk.element;
  for (size_t i = walk.steps.size(); i-- > 0;) {
    const Step& step = walk.steps[i];
    if (step.bytes == 0 || step.extent <= 1) continue;
    if (step.bytes < 0 || step.bytes > std::max(span, line)) break;
    span += step.bytes * (step.extent - 1);
  }
  return span;
}

// An operand whose rows are asked for early, farther ahead than any of its loops steps; other prefetches look one run
// ahead.
bool arePrefetchedRows(const Touch& touch, const Walk& walk) {
  const UOp address = touch.access.node.src(0);
  if (address.op() != Op::Index || address.src(0).op() != Op::Prefetch || touch.storage.op() != Op::Param) return false;
  double farthest = 0;
  for (const Step& step : walk.steps) farthest = std::max(farthest, step.bytes);
  return farthest > 0 && address.src(0).argAs<SlotArg>().slot * walk.element >= farthest;
}

using Path = std::vector<uint32_t>;  // ids of the running loops around something

Path pathOf(const Touch& touch, size_t depth) {
  Path path;
  for (size_t i = 0; i < depth; ++i) path.push_back(touch.loops[i].id());
  return path;
}

// The traffic between one level and those beyond it.
class Boundary {
 public:
  Boundary(const Bodies& bodies, std::span<const Walk> walks, Level level, const Caps& caps)
      : bodies_(bodies), walks_(walks), level_(level), caps_(caps), places_(placesIn(level, caps)) {
    std::map<Path, std::map<uint32_t, double>> parts;  // bytes of every storage in one iteration of some loops
    for (size_t i = 0; i < walks.size(); ++i)
      for (size_t depth = 0; depth <= bodies.touches[i].body; ++depth) {
        double& bytes = parts[pathOf(bodies.touches[i], depth)][bodies.touches[i].storage.id()];
        bytes = std::max(bytes, footprintOf(walks[i], depth, places_, caps_).crowded);
      }
    for (const auto& [path, bytes] : parts)
      for (const auto& [storage, part] : bytes) working_[path] += part;
  }

  /// Bytes that every touch moves. What several touch between the same loops comes once.
  std::vector<double> bytes() const {
    std::vector<double> all;
    std::map<std::pair<Path, uint32_t>, std::pair<double, double>> shared;  // the most, and the sum
    std::vector<std::pair<Path, uint32_t>> keys;
    for (size_t i = 0; i < walks_.size(); ++i) {
      const Touch& touch = bodies_.touches[i];
      const size_t depth = reuseDepth(touch);
      all.push_back(passing(touch, walks_[i], depth));
      keys.emplace_back(pathOf(touch, depth == 0 ? 0 : std::min(depth - 1, touch.body)), touch.storage.id());
      auto& [most, sum] = shared[keys.back()];
      most = std::max(most, all.back()), sum += all.back();
    }
    for (size_t i = 0; i < all.size(); ++i)
      if (const auto& [most, sum] = shared.at(keys[i]); sum > 0) all[i] *= most / sum;
    return all;
  }

 private:
  // Of the loops around a touch, how many are outside of what stays in this level.
  size_t reuseDepth(const Touch& touch) const {
    size_t depth = 0;
    while (depth <= touch.body && !fits(level_, working_.at(pathOf(touch, depth)), caps_)) ++depth;
    return depth;
  }

  double passing(const Touch& touch, const Walk& walk, size_t depth) const {
    const double whole = footprintOf(walk, 0, places_, caps_).bytes;
    if (isStreamed(touch) && level_ != Level::L1) return whole / 2;
    if (depth == 0) return isCold(touch) ? whole : 0;
    double runs = 1;
    for (size_t i = 0; i + 1 < depth; ++i) runs *= walk.steps[i].extent;
    const double bytes = runs * footprintOf(walk, depth - 1, places_, caps_).bytes;
    return bytes > whole || isCold(touch) ? bytes : bytes * (1 - bytesThatStay(level_, caps_) / working_.at({}));
  }

  // The first time that something is touched. What another kernel made is as near as it fits.
  bool isCold(const Touch& touch) const {
    const bool isFar = isLaidOut(touch.access, caps_) && !caps_.areConstantsNear;
    return touch.storage.op() == Op::Param && (level_ == Level::L1 || isFar);
  }

  static bool isStreamed(const Touch& touch) {
    return touch.storage.op() == Op::Param && touch.storage.argAs<SlotArg>().space == Space::Stream;
  }

  const Bodies& bodies_;
  std::span<const Walk> walks_;
  Level level_;
  const Caps& caps_;
  double places_;
  std::map<Path, double> working_;
};

}  // namespace

std::vector<Traffic> trafficOf(const Bodies& bodies, const Caps& caps) {
  const auto line = static_cast<double>(caps.lineBytes);
  std::vector<Walk> walks;
  for (const Touch& touch : bodies.touches) walks.push_back(walkOf(touch, caps));
  std::vector<Traffic> all(walks.size());
  std::vector<double> inner = Boundary(bodies, walks, Level::L1, caps).bytes();
  for (Level level : {Level::L2, Level::L3, Level::Memory}) {
    std::vector<double> beyond(walks.size());
    if (level != Level::Memory) beyond = Boundary(bodies, walks, level, caps).bytes();
    for (size_t i = 0; i < all.size(); ++i) {
      const double times = bodies.touches[i].access.isStore ? parameters::kWritten : 1;
      all[i].bytes[static_cast<size_t>(level)] = times * std::max(0.0, inner[i] - beyond[i]);
    }
    inner = std::move(beyond);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const double run = runBytes(walks[i], line);
    if (arePrefetchedRows(bodies.touches[i], walks[i])) continue;
    all[i].lonely = std::min(1.0, parameters::kLongRun / std::max(run, line)) * (run <= line / 2 ? 1 : 0.5);
  }
  return all;
}

double nanosecondsOf(const Traffic& traffic, const Caps& caps) {
  double total = 0;
  for (Level level : {Level::L2, Level::L3, Level::Memory}) {
    const LevelCost cost = costOf(level, caps);
    const double times = 1 + (cost.lonelyLines - 1) * traffic.lonely;
    total += traffic.bytes[static_cast<size_t>(level)] / cost.bytesPerNs * times;
  }
  return total;
}

}  // namespace svod
