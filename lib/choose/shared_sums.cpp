#include "choose/shared_sums.h"

#include <algorithm>

#include "choose/lanes.h"
#include "cost/cost.h"
#include "cost/parameters.h"
#include "facts/patterns.h"
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

namespace {

// All terms and all results along `shared` as values of one body.
bool writeOut(Chooser& c, UOp shared) {
  if (!c.apply(OptKind::Upcast, idOf(shared), maxExtent(shared), "results that read the same elements")) return false;
  for (UOp reduce : loopedReduces(c.facts()))
    for (UOp loop : reduce.src().subspan(1)) {
      const UOp terms = c.range(idOf(loop));
      if (!terms || axisType(terms) == AxisType::Unroll) continue;
      if (!c.apply(OptKind::Unroll, idOf(terms), maxExtent(terms), "each result knows the elements it adds up"))
        return false;
    }
  return true;
}

}  // namespace

bool sumTogether(Chooser& c) {
  const UOp shared = loopOfSharedReads(c.facts(), parameters::kSharedTerms);
  if (!shared || maxExtent(shared) > c.caps.vectorRegisters) return false;
  const auto costOf = [&](const LanePlan& plan) { return CostModel(c.facts(), c.caps).instructions(plan.lanes); };
  const double apart = costOf(chooseLanes(c, Panels::Free));
  const int64_t results = maxExtent(shared), held = c.caps.vectorRegisters / 2;
  if (!writeOut(c, shared)) return false;
  const LanePlan plan = chooseLanes(c, Panels::Free);
  if (plan.lanes.size() != 1 || costOf(plan) >= apart) return false;
  const Lanes lanes = plan.lanes[0];
  const uint32_t column = idOf(lanes.range);
  const int64_t steps = ceilDiv(maxExtent(lanes.range), lanes.width), vectors = std::min(steps, held / results);
  if (!c.apply(OptKind::Vector, column, lanes.width, "along this output loop it takes the fewest instructions"))
    return false;
  if (vectors > 1) c.apply(OptKind::Upcast, column, vectors, "sums that do not wait for each other");
  return true;
}

bool turnTerms(Chooser& c, const LoopNest& nest) {
  const auto& [reduce, lanes, packed] = nest;
  if (packed || reduce.srcCount() != 2 || sumsProducts(reduce)) return false;
  const UOp terms = reduce.src(1);
  if (axisType(terms) != AxisType::Reduce || !constExtent(terms) || maxExtent(terms) > parameters::kSharedTerms)
    return false;
  const bool liesAcross = std::ranges::any_of(c.facts().accesses, [&](const Access& a) {
    return !a.isStore && strideOf(a, terms) == 1 && strideOf(a, lanes.range).value_or(0) > 1;
  });
  if (!liesAcross) return false;
  const auto cost = [&] { return CostModel(c.facts(), c.caps).instructions({&lanes, 1}); };
  const double apart = cost();
  return c.apply(OptKind::Unroll, idOf(terms), maxExtent(terms), "blocks of terms are transposed in registers") &&
         cost() < apart &&
         c.apply(OptKind::Vector, idOf(lanes.range), lanes.width,
                 "along this output loop it takes the fewest instructions");
}

}  // namespace svod
