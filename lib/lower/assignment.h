// Loop expansion: which ranges are unrolled or become vector lanes, and the values of their counters there.
#pragma once
#include <map>
#include <span>
#include <utility>

#include "ir/graph.h"
#include "ir/workgroup.h"

namespace svod {

/// Whether copies take the range's place. Dot ranges, too: products that no instruction sums up are copies. Of Core
/// ranges only a tensor core sums up terms.
inline bool isUnrolled(UOp range) {
  AxisType t = range.argAs<AxisArg>().type;
  return t == AxisType::Upcast || t == AxisType::Unroll || t == AxisType::Dot || t == AxisType::Core;
}
inline bool isVector(UOp range) { return range.argAs<AxisArg>().type == AxisType::Vector; }
inline bool isLoop(UOp range) { return !isUnrolled(range) && !isVector(range); }

/// Of a range that is expanded; the largest of a symbolic one, which local buffers are laid out for.
inline int64_t extentOf(UOp range) { return range.src(0).bounds().max; }

/// Values of the unrolled ranges that are fixed at one point, by range id; sorted, so that equal ones compare equal.
using Assignment = std::map<uint32_t, int64_t>;

/// What the value of `node` depends on.
inline Assignment relevant(UOp node, const Assignment& all) {
  Assignment left;
  for (UOp r : node.ranges())
    if (auto it = all.find(r.id()); it != all.end()) left.insert(*it);
  return left;
}

/// Calls `visit` for every assignment of the unrolled ranges among `ranges`, last range fastest.
template <class Visit>
void forEachAssignment(std::span<const UOp> ranges, Assignment at, Visit visit) {
  if (ranges.empty()) return visit(at);
  UOp r = ranges[0];
  if (!isUnrolled(r)) return forEachAssignment(ranges.subspan(1), std::move(at), visit);
  for (int64_t k = 0; k < extentOf(r); ++k) {
    at[r.id()] = k;
    forEachAssignment(ranges.subspan(1), at, visit);
  }
}

}  // namespace svod
