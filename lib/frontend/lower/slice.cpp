// Parts of axes: slices with Python's rules, single positions, steps.
#include <algorithm>

#include "frontend/lower/common.h"

namespace svod {

namespace {

// Every step-th element of an axis, from the first on: pad to whole steps, split the axis, keep the first of
// each.
Tensor everyNth(Tensor x, int axis, int64_t step) {
  GraphBuilder& b = *x.builder();
  Dim count = floordiv(x.dim(axis) + (step - 1), step);
  Dims before, after, split = x.dims(), offsets, sizes, result = x.dims();
  for (int i = 0; i < x.rank(); ++i) {
    before.add(b.dim(0));
    after.add(i == axis ? count * step - x.dim(axis) : b.dim(0));
  }
  split.set(axis, count);
  split.insert(axis + 1, b.dim(step));
  result.set(axis, count);
  Tensor padded = reshape(pad(x, before, after, 0), split);
  return reshape(narrow(padded, axis + 1, b.dim(0), b.dim(1)), result);
}

// A bound of variables counts from the end where it is negative. One that may be either adds the size times 1 or 0.
Dim countedFromFront(GraphBuilder& b, Dim bound, Dim size) {
  if (bound.max() < 0) return size + bound;
  return bound.min() < 0 ? bound + size * smaller(larger(b.dim(0) - bound, b.dim(0)), b.dim(1)) : bound;
}

// A Python slice bound as an offset of at least `low`. Variables may carry a part beyond the tensor.
Dim clampBound(GraphBuilder& b, Dim bound, Dim size, int64_t low, Dim high) {
  if (bound.isConst() && bound.constant() >= 0) return smaller(bound, high);
  if (bound.isConst() && bound.constant() == INT64_MIN) return b.dim(low);
  return bound.min() < 0 ? larger(countedFromFront(b, bound, size), b.dim(low)) : bound;
}

/// Without `end` the slice takes all behind, or before, its start.
Tensor sliceAxis(GraphBuilder& b, Tensor x, int axis, Dim start, Dim end, int64_t step) {
  const Dim size = x.dim(axis), zero = b.dim(0);
  if (step > 0) {
    start = clampBound(b, start, size, 0, size);
    end = end ? clampBound(b, end, size, 0, size) : size;
    Tensor part = narrow(x, axis, start, larger(end - start, zero));
    return part && step > 1 ? everyNth(part, axis, step) : part;
  }
  // Backwards: reversed, element i stands at size-1-i.
  const Dim last = size - 1;
  start = smaller(clampBound(b, start, size, -1, last), last);
  end = end ? clampBound(b, end, size, -1, last) : b.dim(-1);
  Tensor part = narrow(flip(x, {{axis}}), axis, last - start, larger(start - end, zero));
  return part && step < -1 ? everyNth(part, axis, -step) : part;
}

}  // namespace

Results lowerSlice(OpCall& call) {
  Tensor x = call.arg(0);
  Dims starts = call.dims("starts"), ends = call.dims("ends");
  std::vector<int64_t> steps = call.integers("steps");
  size_t count = static_cast<size_t>(starts.rank());
  auto axes = distinctAxes(call, "axes", x.rank());
  if (!axes) return Tensor();
  if (!call.has("axes"))
    for (size_t i = 0; i < count; ++i) axes->push_back(static_cast<int>(i));
  if (steps.size() == 1) steps.assign(count, steps[0]);
  if (!call.require(count <= static_cast<size_t>(x.rank()), "'starts' has more entries than there are axes") ||
      (call.has("ends") && !sameCount(call, ends.rank(), count, "ends")) ||
      !sameCount(call, axes->size(), count, "axes") || !sameCount(call, steps.size(), count, "steps"))
    return Tensor();
  constexpr int64_t kLargestStep = int64_t{1} << 40;
  for (size_t i = 0; i < count && x; ++i) {
    int at = static_cast<int>(i), axis = (*axes)[i];
    if (steps[i] == 0) return call.fail(Diag::BadAttribute, "a step is 0", "steps are positive or negative");
    int64_t step = std::clamp(steps[i], -kLargestStep, kLargestStep);
    x = sliceAxis(call.b, x, axis, starts[at], call.has("ends") ? ends[at] : Dim(), step);
  }
  return x;
}

Results lowerAt(OpCall& call) {
  Tensor x = call.arg(0);
  const Dims positions = call.dims("positions");
  auto axes = distinctAxes(call, "axes", x.rank());
  if (!axes) return Tensor();
  if (!call.require(positions.rank() <= x.rank(), "'positions' has more entries than there are axes")) return Tensor();
  if (!call.has("axes"))
    for (int i = 0; i < positions.rank(); ++i) axes->push_back(i);
  if (!sameCount(call, axes->size(), static_cast<size_t>(positions.rank()), "axes")) return Tensor();
  for (int i = 0; i < positions.rank(); ++i) {
    const int axis = (*axes)[static_cast<size_t>(i)];
    const Dim at = countedFromFront(call.b, positions[i], x.dim(axis));
    x = narrow(x, axis, at, call.b.dim(1));
  }
  std::ranges::sort(*axes, std::ranges::greater());
  for (int axis : *axes) x = squeeze(x, axis);
  return x;
}

Results lowerStride(OpCall& call) {
  Tensor x = call.arg(0);
  std::vector<int64_t> steps = call.integers("steps");
  if (!sameCount(call, steps.size(), static_cast<size_t>(x.rank()), "steps")) return Tensor();
  for (int i = 0; i < static_cast<int>(steps.size()) && x; ++i) {
    int64_t step = steps[i];
    if (step == 0 || std::abs(step) > (int64_t{1} << 40))
      return call.fail(Diag::BadAttribute, "a step is " + std::to_string(step), "steps are not 0 and below 2^40");
    if (step < 0) x = flip(x, {{i}});
    if (x && std::abs(step) > 1) x = everyNth(x, i, std::abs(step));
  }
  return x;
}

}  // namespace svod
