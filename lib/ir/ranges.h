// What a Range says of itself, and numbers for new ones.
#pragma once
#include <cstdint>

#include "ir/graph.h"

namespace svod {

inline AxisType axisType(UOp range) { return range.argAs<AxisArg>().type; }

/// An id above those of all ranges below `root`.
uint32_t nextRangeId(UOp root);

}  // namespace svod
