// Limits of one kernel: it stays small enough to compile in bounded time and to keep its arguments in registers.
#pragma once
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "schedule/element_dag.h"

namespace svod {

/// Reductions are the better places to cut: their results are smaller than what they read. Values count once for every
/// index that they are read at. `regroupings` bounds what one path divides and multiplies indices, which no rule may be
/// able to undo.
struct SizeLimit {
  int ops, leaves, depth, regroupings;
  bool admits(const SizeLimit& size) const {
    return size.ops <= ops && size.leaves <= leaves && size.depth <= depth && size.regroupings <= regroupings;
  }
};
constexpr SizeLimit kMaxElementwise = {160, 24, 400, 12}, kMaxReduce = {64, 12, 160, 12};

/// Whether a reshape does more than to add and remove axes of one element.
bool regroups(UOp node);

/// What reductions of the kernel repeat.
std::vector<UOp> reducedIn(UOp sink);
/// Whether the kernel keeps the limits, without regard to depth.
bool isSmallEnough(UOp sink);

/// Of a launch of the kernel: every node as often as the loops it depends on run, index arithmetic aside.
double launchCost(UOp sink);

/// Marks values of `order`, which is topological, at which a kernel has grown too large; false when there are none.
/// `hasBuffer` says what is read from one. Values whose ids are in `uncut` are never marked.
bool cutLargeKernels(std::span<const UOp> order, ElementDag& dag, const std::function<bool(UOp)>& hasBuffer,
                     const std::set<uint32_t>& uncut, std::vector<bool>& isCut);

}  // namespace svod
