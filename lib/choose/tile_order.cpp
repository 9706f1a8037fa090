#include "choose/tile_order.h"

#include <algorithm>

#include "cost/kernel_cost.h"
#include "cost/parameters.h"
#include "facts/patterns.h"

namespace svod {

namespace {

/// Numbers of the two outermost loops over results; none where there are fewer.
std::vector<int32_t> outermostLoops(const KernelFacts& kernel) {
  std::vector<int32_t> loops;
  for (size_t i = 0; i < kernel.axes.size() && loops.size() < 2; ++i) {
    const auto& [range, nest] = kernel.axes[i];
    if (nest == Nest::Output && axisType(range) == AxisType::Loop && maxExtent(range) > 1)
      loops.push_back(static_cast<int32_t>(i));
  }
  return loops.size() == 2 ? loops : std::vector<int32_t>();
}

bool isOrdered(const Chooser& c) {
  return std::ranges::any_of(c.opts, [](const ChosenOpt& chosen) { return chosen.opt.kind == OptKind::Order; });
}

/// Whether rows of results begin with a line of the cache. Where they do not, two tiles side by side write parts of one
/// line, and it comes twice unless they follow each other.
bool writesWholeLines(const Chooser& c, UOp rows) {
  return std::ranges::all_of(c.facts().accesses, [&](const Access& a) {
    const int64_t bytes = a.isStore ? byteSize(a.node.src(1).dtype()) * strideOf(a, rows).value_or(1) : 0;
    return bytes % c.caps.lineBytes == 0;
  });
}

}  // namespace

void orderTiles(Chooser& c) {
  const bool hasCopies = std::ranges::any_of(c.facts().nodes, [](UOp n) { return n.op() == Op::Fill; });
  if (c.pattern() != Pattern::Gemm || hasCopies || isOrdered(c)) return;
  const std::vector<int32_t> loops = outermostLoops(c.facts());
  if (loops.empty() || !writesWholeLines(c, c.facts().axes[static_cast<size_t>(loops[0])].range)) return;
  attempt(c, [&](Chooser& trial) {
    return trial.apply(OptKind::Order, AxisList{{loops[1], loops[0]}}, "what is read again is nearer") &&
           costOf(trial.facts(), c.caps).total * parameters::kWorthOrder < costOf(c.facts(), c.caps).total;
  });
}

}  // namespace svod
