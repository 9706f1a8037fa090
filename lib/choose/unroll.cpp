#include "choose/unroll.h"

#include <algorithm>
#include <ranges>

#include "cost/parameters.h"
#include "facts/patterns.h"

namespace svod {

namespace {

/// Lanes of vectors that are gathered from narrow elements: no instruction does, and each becomes code of its own.
int64_t lanesOneByOne(const KernelFacts& kernel) {
  int64_t most = 1;
  for (const Access& a : kernel.accesses)
    for (UOp r : a.node.ranges())
      if (!a.isStore && axisType(r) == AxisType::Vector && byteSize(a.node.dtype()) < 4 && !strideOf(a, r))
        most = std::max(most, maxExtent(r));
  return most;
}

}  // namespace

void unrollInnermost(Chooser& c, UOp reduce, int64_t copies) {
  using namespace parameters;
  if (!reduce) return;
  copies *= lanesOneByOne(c.facts());
  const bool products = sumsProducts(reduce);
  const int64_t mostTaps = c.caps.vectorRegisters < kManyRegisters ? kMostTapsOfFew : kMostTaps;
  const int64_t mostWhole = products ? mostTaps : kManyTerms;
  bool inside = false;  // the loops inside this one are written out
  const std::vector<UOp> loops(reduce.src().begin() + 1, reduce.src().end());
  for (UOp loop : std::views::reverse(loops)) {
    const std::optional<int64_t> extent = constExtent(loop);
    if (axisType(loop) != AxisType::Reduce || !extent) return;
    const auto writesOut = [&](int64_t n, int64_t most) {
      return n > 1 && *extent % n == 0 && n * copies <= most &&
             c.apply(OptKind::Unroll, idOf(loop), n, "fewer branches in a short body");
    };
    const auto mostInPart = [&](int64_t n) {
      return inside ? mostTaps : products && *extent / n >= kLongTurns ? kManyTerms : kFewTerms;
    };
    if (*extent > kLongestWhole || !writesOut(*extent, mostWhole)) {
      if (!writesOut(4, mostInPart(4))) writesOut(2, mostInPart(2));
      return;
    }
    if (!products) return;
    copies *= *extent, inside = true;
  }
}

}  // namespace svod
