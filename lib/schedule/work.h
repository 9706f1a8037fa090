// What decisions before any loop is chosen know of effort: relative costs of one element, limits of one kernel.
#pragma once
#include <algorithm>
#include <ranges>

#include "ir/graph.h"

namespace svod {

constexpr double kOpCost = 1, kDivideCost = 4, kTranscendentalCost = 12, kHashCost = 100, kLoadCost = 2, kStoreCost = 3;
/// A kernel launch costs as much as this many of the cheapest ops.
constexpr double kLaunch = 4000;

/// That of the op alone, its operands given.
inline double work(UOp node) {
  if (has(node.op(), Transcend)) return kTranscendentalCost;
  switch (node.op()) {
    case Op::Fdiv:
    case Op::Recip:
    case Op::Sqrt:
    case Op::Cdiv:
    case Op::Cmod:
    case Op::Floordiv:
    case Op::Floormod:
      return kDivideCost;
    case Op::Cast:  // loads of narrow integers extend them
      return isInt(node.dtype()) && isInt(node.src(0).dtype()) && byteSize(node.src(0).dtype()) < byteSize(node.dtype())
                 ? 0
                 : kOpCost;
    case Op::Threefry:
      return kHashCost;
    default:
      return isElementwise(node.op()) ? kOpCost : 0;
  }
}

/// Kernels stay small enough to compile in bounded time and to keep their arguments in registers.
/// Reductions are the better places to cut: their results are smaller than what they read. `regroupings` bounds what one
/// path divides and multiplies indices, which no rule may be able to undo.
struct SizeLimit {
  int ops, leaves, depth, regroupings;
  bool admits(const SizeLimit& size) const {
    return size.ops <= ops && size.leaves <= leaves && size.depth <= depth && size.regroupings <= regroupings;
  }
};
constexpr SizeLimit kMaxElementwise = {160, 24, 400, 12}, kMaxReduce = {64, 12, 160, 12};

/// Whether a reshape does more than to add and remove axes of one element.
inline bool regroups(UOp n) {
  auto isWide = [](UOp dim) { return !dim.isConst(1); };
  return n.op() == Op::Reshape && !std::ranges::equal(n.shape() | std::views::filter(isWide),
                                                      n.src(0).shape() | std::views::filter(isWide));
}

}  // namespace svod
