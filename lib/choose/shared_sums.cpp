#include "choose/shared_sums.h"

#include <algorithm>

#include "cost/parameters.h"
#include "facts/reduces.h"

namespace svod {

UOp loopOfSharedReads(const KernelFacts& kernel, int64_t mostTerms) {
  const std::vector<UOp> reduces = loopedReduces(kernel);
  for (const Axis& a : kernel.axes) {
    const bool isShort = a.nest == Nest::Output && axisType(a.range) == AxisType::Loop && a.range.src(0).isConst() &&
                         maxExtent(a.range) > 1 && maxExtent(a.range) <= mostTerms;
    const auto sharesReads = [&](UOp reduce) {
      return reduce.dependsOn(a.range) && termsOf(reduce) <= mostTerms &&
             std::ranges::none_of(kernel.accesses,
                                  [&](const Access& l) { return !l.isStore && l.address.dependsOn(a.range); });
    };
    if (isShort && !reduces.empty() && std::ranges::all_of(reduces, sharesReads)) return a.range;
  }
  return {};
}

bool sumTogether(Chooser& c, const LoopNest& nest) {
  const UOp shared = loopOfSharedReads(c.facts(), parameters::kSharedTerms), column = nest.lanes.range;
  if (!shared || shared == column || nest.reduce.srcCount() != 2) return false;
  const uint32_t terms = idOf(nest.reduce.src(1)), lanes = idOf(column);
  const int64_t results = maxExtent(shared), held = c.caps.vectorRegisters / 2;
  if (results > held) return false;
  const int64_t steps = ceilDiv(maxExtent(column), nest.lanes.width), vectors = std::min(steps, held / results);
  if (!c.apply(OptKind::Upcast, idOf(shared), results, "results that read the same elements")) return false;
  if (!c.apply(OptKind::Vector, lanes, nest.lanes.width, "along this output loop it takes the fewest instructions"))
    return false;
  if (vectors > 1) c.apply(OptKind::Upcast, lanes, vectors, "sums that do not wait for each other");
  const UOp loop = c.range(terms);
  return c.apply(OptKind::Unroll, terms, maxExtent(loop), "each result knows the elements it adds up");
}

}  // namespace svod
