#include "choose/tensor_core.h"

#include <algorithm>

namespace svod {

namespace {

// Numbers of the axes of one nest, innermost first: elements along these are neighbours most likely.
std::vector<int32_t> fromInnermost(std::span<const Axis> axes, Nest nest) {
  std::vector<int32_t> numbers;
  for (size_t i = axes.size(); i-- > 0;)
    if (axes[i].nest == nest) numbers.push_back(static_cast<int32_t>(i));
  return numbers;
}

struct Candidate {
  CoreAxes args;
  double work;  // with padding, of what there is without
};

// Every way to take axes of the kernel for the rows, columns and terms of a core; the least padding first.
std::vector<Candidate> candidates(const Chooser& c) {
  const std::vector<Axis> axes = c.facts().axes;
  auto padded = [&](int32_t axis, int64_t size) {
    const int64_t extent = std::max<int64_t>(maxExtent(axes[static_cast<size_t>(axis)].range), 1);
    return static_cast<double>(roundUp(extent, size)) / static_cast<double>(extent);
  };
  std::vector<Candidate> found;
  for (uint32_t number = 0; number < c.caps.cores.size(); ++number) {
    const TensorCore& core = *c.caps.cores[number];
    if (core.isOfWarpgroup()) continue;  // whose factors would have to be packed before
    for (int32_t k : fromInnermost(axes, Nest::Reduce))
      for (int32_t n : fromInnermost(axes, Nest::Output))
        for (int32_t m : fromInnermost(axes, Nest::Output))
          if (m != n) found.push_back({{number, m, n, k}, padded(m, core.m) * padded(n, core.n) * padded(k, core.k)});
  }
  std::ranges::stable_sort(found, {}, &Candidate::work);
  return found;
}

std::optional<CoreAxes> applyFirst(Chooser& c) {
  for (const Candidate& candidate : candidates(c)) {
    const TensorCore& core = *c.caps.cores[candidate.args.core];
    const std::string why = "a warp adds products of " + std::to_string(core.m) + " x " + std::to_string(core.n) +
                            " tiles, " + std::to_string(core.k) + " terms at once";
    if (c.apply(OptKind::Tc, candidate.args, why)) return candidate.args;
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
  const std::vector<Axis> axes = c.facts().axes;
  const std::optional<CoreAxes> picked = applyFirst(c);
  if (!picked) return false;
  const uint32_t m = idOf(axes[static_cast<size_t>(picked->m)].range);
  const uint32_t n = idOf(axes[static_cast<size_t>(picked->n)].range);
  for (uint32_t axis : {m, n})
    applyDivisor(c, OptKind::Upcast, axis, {5, 4, 3, 2}, "tiles of a warp share what it loads");
  applyDivisor(c, OptKind::Local, n, {4, 2}, "warps of a workgroup read the same rows");
  return true;
}

}  // namespace svod
