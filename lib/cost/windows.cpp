#include "cost/windows.h"

#include <algorithm>
#include <span>

#include "cost/parameters.h"
#include "facts/accesses.h"
#include "facts/steps.h"
#include "ir/ranges.h"

namespace svod {

namespace {

bool isPlainLoop(UOp range) { return axisType(range) == AxisType::Loop; }

// The one load of a parameter that slides along an output loop as along a loop of the reduce, or skips elements.
std::optional<Access> slidingLoad(std::span<const Access> all, UOp reduce, std::span<const UOp> outputs) {
  for (const Access& a : all) {
    if (a.isStore || !a.slot || std::ranges::count(all, a.slot, &Access::slot) != 1) continue;
    if (!dependsOnAny(a.node, reduce.src().subspan(1))) continue;
    for (UOp r : outputs) {
      auto x = strideOf(a, r);
      if (x && *x > 1 && *x <= parameters::kMostSkip) return a;
      for (UOp k : reduce.src().subspan(1))
        if (slides(a, r, k)) return a;
    }
  }
  return std::nullopt;
}

// The one load of a parameter that reads neighbours along an output loop, and not along the one outside of it: lines of
// a larger matrix.
std::optional<Access> loadOfLines(std::span<const Access> all, UOp reduce, std::span<const UOp> outputs) {
  for (const Access& a : all) {
    if (a.isStore || !a.slot || std::ranges::count(all, a.slot, &Access::slot) != 1) continue;
    if (!dependsOnAny(a.node, reduce.src().subspan(1))) continue;
    const auto column = std::ranges::find_if(outputs, [&](UOp r) { return strideOf(a, r) == 1; });
    if (column == outputs.end() || column == outputs.begin() || !a.node.dependsOn(column[-1])) continue;
    return a;
  }
  return std::nullopt;
}

// The output loop along which the result moves by `step`.
UOp loopOfStep(const Access& store, std::span<const UOp> loops, const std::optional<AddressStep>& step) {
  auto at = std::ranges::find_if(loops, [&](UOp r) { return step && stepOf(store.address, r) == step; });
  return at == loops.end() ? UOp() : *at;
}

std::optional<Windows> windowsOf(const KernelFacts& kernel, const Caps& caps) {
  if (kernel.reduces.size() != 1) return std::nullopt;
  const UOp reduce = kernel.reduces[0];
  const std::vector<Access>& all = kernel.accesses;
  std::vector<UOp> outputs;
  for (const Axis& axis : kernel.axes)
    if (axis.nest == Nest::Output) outputs.push_back(axis.range);
  if (std::ranges::count(all, true, &Access::isStore) != 1) return std::nullopt;
  if (!std::ranges::all_of(outputs, isPlainLoop)) return std::nullopt;
  std::optional<Access> load = slidingLoad(all, reduce, outputs);
  if (!load) load = loadOfLines(all, reduce, outputs);
  if (!load) return std::nullopt;

  Windows w{*load->slot, byteSize(load->node.dtype()), {}, {}, {}, {}, {}};
  for (UOp r : reduce.src().subspan(1)) {
    if (!constExtent(r) || !stepOf(load->address, r)) return std::nullopt;
    if (load->node.dependsOn(r)) w.taps.push_back(r);
  }
  for (UOp r : outputs) (load->node.dependsOn(r) ? w.outer : w.filters).push_back(r);
  const Access& store = *std::ranges::find(all, true, &Access::isStore);
  w.column = loopOfStep(store, w.outer, AddressStep(1));
  if (!w.column || w.taps.size() + 1 != reduce.srcCount()) return std::nullopt;
  w.line = loopOfStep(store, w.outer, stepOf(store.address, w.column, linearOf(w.column.src(0))));
  // Plain lines of some vectors and more are read as they lie.
  const bool strided = strideOf(*load, w.column) != 1;
  w.isPadded = load->node.srcCount() > 1;
  bool isShort = w.line && maxExtent(w.column) < parameters::kLongLine * caps.vectorBytes / w.elementBytes;
  return w.isPadded || strided || isShort ? std::optional(w) : std::nullopt;
}

}  // namespace

bool Windows::areFixed() const { return constExtent(column) && (!line || constExtent(line)); }

std::optional<Windows> windowsToCopy(const KernelFacts& kernel, const Caps& caps) {
  const Pattern pattern = kernel.pattern();
  if (pattern != Pattern::Conv && pattern != Pattern::Gemm && pattern != Pattern::Gemv) return std::nullopt;
  std::optional<Windows> w = windowsOf(kernel, caps);
  if (!w) return std::nullopt;
  int64_t filters = 1;
  for (UOp r : w->filters) filters *= maxExtent(r);
  if (filters == 1) return w->isPadded && !w->areFixed() ? w : std::nullopt;
  return pattern == Pattern::Gemv || filters < parameters::kWorthWindows ? std::nullopt : w;
}

}  // namespace svod
