// Which vector ops of a kernel share one loop over lanes.
#pragma once
#include <vector>

#include "linearize/linear.h"

namespace svod {

/// Consecutive vector ops of equal width form a group: one loop in which every intermediate value is a scalar.
/// Scalar work between them moves in front of the group unless that would reorder memory accesses or needs a lane.
struct LaneGroups {
  std::vector<int> groupOf;        // by node id: number of the group, -1 for none
  std::vector<bool> escapes;       // by node id: a vector value needed outside its group
  std::vector<bool> byElement;     // by node id: a vector or a buffer of which single elements are accessed
  std::vector<bool> closesBefore;  // by position in ops: the open group ends in front of this op
};
LaneGroups findLaneGroups(const LinearKernel& kernel);

/// The op is no statement: it has no code, or is written where it is used.
bool printsNothing(Op op);

/// The op computes one value per lane, in a loop over lanes.
bool isLaneWise(UOp node);

}  // namespace svod
