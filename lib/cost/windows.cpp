#include "cost/windows.h"

#include <algorithm>
#include <span>

#include "cost/parameters.h"
#include "facts/accesses.h"

namespace svod {

namespace {

bool dependsOnAny(UOp node, std::span<const UOp> ranges) {
  return std::ranges::any_of(ranges, [&](UOp r) { return node.dependsOn(r); });
}

bool isPlainLoop(UOp range) { return axisType(range) == AxisType::Loop && constExtent(range); }

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

// The output loop along which the result moves by `stride` elements.
UOp loopOfStride(const Access& store, std::span<const UOp> loops, int64_t stride) {
  auto at = std::ranges::find_if(loops, [&](UOp r) { return strideOf(store, r) == stride; });
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
  if (!load) return std::nullopt;

  Windows w{*load->slot, byteSize(load->node.dtype()), {}, {}, {}, {}, {}};
  for (UOp r : reduce.src().subspan(1)) {
    if (!constExtent(r) || !strideOf(*load, r)) return std::nullopt;
    if (load->node.dependsOn(r)) w.taps.push_back(r);
  }
  for (UOp r : outputs) (load->node.dependsOn(r) ? w.outer : w.filters).push_back(r);
  const Access& store = *std::ranges::find(all, true, &Access::isStore);
  w.column = loopOfStride(store, w.outer, 1);
  if (!w.column || w.taps.size() + 1 != reduce.srcCount()) return std::nullopt;
  w.line = loopOfStride(store, w.outer, maxExtent(w.column));
  // Plain lines of some vectors and more are read as they lie.
  bool padded = load->node.srcCount() > 1, strided = strideOf(*load, w.column) != 1;
  bool isShort = w.line && maxExtent(w.column) < parameters::kLongLine * caps.vectorBytes / w.elementBytes;
  return padded || strided || isShort ? std::optional(w) : std::nullopt;
}

}  // namespace

std::optional<Windows> windowsToCopy(const KernelFacts& kernel, const Caps& caps) {
  if (Pattern pattern = kernel.pattern(); pattern != Pattern::Conv && pattern != Pattern::Gemm) return std::nullopt;
  std::optional<Windows> w = windowsOf(kernel, caps);
  if (!w) return std::nullopt;
  int64_t filters = 1;
  for (UOp r : w->filters) filters *= maxExtent(r);
  return filters < parameters::kWorthWindows ? std::nullopt : w;
}

}  // namespace svod
