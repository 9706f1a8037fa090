// Sums of products on a GPU: which of their axes become tiles of a tensor core, and how many tiles a warp and a workgroup
// compute.
#include <algorithm>

#include "optimize/chooser.h"

namespace svod {

namespace {

// Numbers of the axes of one nest, innermost first: elements along these are neighbours most likely.
std::vector<int32_t> fromInnermost(std::span<const Axis> axes, Nest nest) {
  std::vector<int32_t> numbers;
  for (size_t i = axes.size(); i-- > 0;)
    if (axes[i].nest == nest) numbers.push_back(static_cast<int32_t>(i));
  return numbers;
}

// The first core of the target that some axes fit; `whole`: only axes that its tiles divide.
std::optional<CoreAxes> applyFirst(Chooser& c, bool whole) {
  const std::vector<Axis> axes = axesOf(c.sink);
  const std::vector<int32_t> outputs = fromInnermost(axes, Nest::Output), reduces = fromInnermost(axes, Nest::Reduce);
  auto divides = [&](int size, int32_t axis) { return maxExtent(axes[static_cast<size_t>(axis)].range) % size == 0; };
  for (uint32_t number = 0; number < c.caps.cores.size(); ++number) {
    const TensorCore& core = *c.caps.cores[number];
    const std::string why = "a warp adds products of " + std::to_string(core.m) + " x " + std::to_string(core.n) +
                            " tiles, " + std::to_string(core.k) + " terms at once";
    for (int32_t k : reduces)
      for (int32_t n : outputs)
        for (int32_t m : outputs) {
          const bool fits = m != n && (!whole || (divides(core.m, m) && divides(core.n, n) && divides(core.k, k)));
          const CoreAxes picked{number, m, n, k};
          if (fits && c.apply(OptKind::Tc, picked, why)) return picked;
        }
  }
  return std::nullopt;
}

void applyDivisor(Chooser& c, OptKind kind, uint32_t rangeId, std::initializer_list<int64_t> amounts, const char* why) {
  for (int64_t amount : amounts)
    if (maxExtent(c.range(rangeId)) % amount == 0 && c.apply(kind, rangeId, amount, why)) return;
}

}  // namespace

bool useTensorCore(Chooser& c) {
  if (c.caps.cores.empty()) return false;
  const std::vector<Axis> axes = axesOf(c.sink);
  std::optional<CoreAxes> picked = applyFirst(c, true);
  if (!picked) picked = applyFirst(c, false);
  if (!picked) return false;
  const uint32_t m = idOf(axes[static_cast<size_t>(picked->m)].range);
  const uint32_t n = idOf(axes[static_cast<size_t>(picked->n)].range);
  for (uint32_t axis : {m, n})
    applyDivisor(c, OptKind::Upcast, axis, {5, 4, 3, 2}, "tiles of a warp share what it loads");
  applyDivisor(c, OptKind::Local, n, {4, 2}, "warps of a workgroup read the same rows");
  return true;
}

}  // namespace svod
