// What a Range says of itself, and numbers for new ones.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "ir/graph.h"

namespace svod {

inline AxisType axisType(UOp range) { return range.argAs<AxisArg>().type; }

inline bool dependsOnAny(UOp node, std::span<const UOp> ranges) {
  return std::ranges::any_of(ranges, [&](UOp r) { return node.dependsOn(r); });
}

/// An id above those of all ranges below `root`.
uint32_t nextRangeId(UOp root);

}  // namespace svod
