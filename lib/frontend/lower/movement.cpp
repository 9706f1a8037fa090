// Movement ops and what is made of them.
#include <algorithm>
#include <numeric>

#include "frontend/graph_op.h"

namespace svod {

namespace {

// Sorted axes from an attribute, all different; nothing after an error.
std::optional<std::vector<int>> distinctAxes(OpCall& call, std::string_view name, int rank) {
  std::vector<int> all;
  for (int a : call.axes(name)) {
    int axis = call.b.axisOfRank(rank, a, call.arg(0));
    if (axis < 0) return std::nullopt;
    if (std::ranges::find(all, axis) != all.end()) {
      call.fail(Diag::BadAttribute, "axis " + std::to_string(axis) + " is listed twice", "list each axis once");
      return std::nullopt;
    }
    all.push_back(axis);
  }
  return all;
}

bool sameCount(OpCall& call, size_t have, size_t want, std::string_view name) {
  if (have == want) return true;
  call.fail(Diag::BadAttribute,
            "'" + std::string(name) + "' has " + std::to_string(have) + " entries, expected " + std::to_string(want));
  return false;
}

constexpr size_t kMaxRank = 32;  // of a shape given in a file

bool rankFits(OpCall& call, const Dims& dims) {
  if (dims.rank() <= static_cast<int>(kMaxRank)) return true;
  call.fail(Diag::TooLarge, "a shape with " + std::to_string(dims.rank()) + " dims", "at most 32");
  return false;
}

}  // namespace

Results lowerReshape(OpCall& call) {
  Tensor x = call.arg(0);
  Dims dims = call.dims("shape");
  if (!rankFits(call, dims)) return Tensor();
  Dim known = call.b.dim(1), total = call.b.dim(1);
  int unknown = -1;
  // Sizes that stay need no division, and may be 0.
  const Dims have = x.dims();
  std::vector<Dim> from(have.begin(), have.end());
  for (int i = 0; i < dims.rank(); ++i) {
    auto same = dims[i].isConst() ? from.end() : std::find(from.begin(), from.end(), dims[i]);
    if (same != from.end()) {
      from.erase(same);
    } else if (!dims[i].is(-1)) {
      known = known * dims[i];
    } else if (unknown >= 0) {
      return call.fail(Diag::BadAttribute, "two dims of " + describe(dims) + " are -1", "only one can be computed");
    } else {
      unknown = i;
    }
  }
  for (const Dim& d : from) total = total * d;
  if (unknown >= 0) {
    if (known.is(0))
      return call.fail(Diag::BadAttribute, "the dim -1 of " + describe(dims) + " could be anything",
                       "give it a number");
    // Sizes that may be 0 cancel where they can; elsewhere they are 1 or more, or there is nothing to divide.
    Dim quotient = floordiv(total, known);
    if (known.min() <= 0 && quotient * known != total) quotient = floordiv(total, larger(known, call.b.dim(1)));
    dims.set(unknown, quotient);
  }
  return reshape(x, dims);
}

Results lowerFlatten(OpCall& call) {
  Tensor x = call.arg(0);
  int64_t axis = call.integer("axis");
  int at = axis == x.rank() ? x.rank() : call.b.axis(x, axis);
  if (at < 0) return Tensor();
  Dim left = call.b.dim(1), right = call.b.dim(1);
  for (int i = 0; i < x.rank(); ++i) (i < at ? left : right) = (i < at ? left : right) * x.dim(i);
  return reshape(x, {left, right});
}

Results lowerSqueeze(OpCall& call) {
  Tensor x = call.arg(0);
  auto axes = distinctAxes(call, "axes", x.rank());
  if (!axes) return Tensor();
  if (!call.has("axes"))
    for (int i = 0; i < x.rank(); ++i)
      if (x.dim(i).is(1)) axes->push_back(i);
  std::sort(axes->rbegin(), axes->rend());
  for (int axis : *axes) x = squeeze(x, axis);
  return x;
}

Results lowerUnsqueeze(OpCall& call) {
  Tensor x = call.arg(0);
  int added = static_cast<int>(call.axes("axes").size());
  auto axes = distinctAxes(call, "axes", x.rank() + added);
  if (!axes) return Tensor();
  std::sort(axes->begin(), axes->end());
  for (int axis : *axes) x = unsqueeze(x, axis);
  return x;
}

Results lowerExpand(OpCall& call) {
  Tensor x = call.arg(0);
  Dims dims = call.dims("shape");
  if (!rankFits(call, dims)) return Tensor();
  for (int i = 1; i <= std::min(dims.rank(), x.rank()); ++i)
    if (dims[-i].is(-1)) dims.set(-i, x.dim(-i));
  return expand(x, dims);
}

Results lowerPermute(OpCall& call) { return permute(call.arg(0), call.axes("order")); }

Results lowerTranspose(OpCall& call) {
  Tensor x = call.arg(0);
  int a = call.b.axis(x, call.integer("axis0")), c = call.b.axis(x, call.integer("axis1"));
  if (a < 0 || c < 0) return Tensor();
  std::vector<int> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[a], order[c]);
  return permute(x, order);
}

namespace {

// Positions inside [0, size) for the padded coordinate `at`, which may lie outside.
Tensor paddedPositions(std::string_view mode, Tensor at, Dim size) {
  Tensor n = at.builder()->value(size);
  if (mode == "edge") return min(max(at, 0), n - 1);
  if (mode == "wrap") return floormod(at, n);
  Tensor period = max((n - 1) * 2, 1);
  Tensor folded = floormod(at, period);
  return min(folded, period - folded);
}

Tensor padByPosition(OpCall& call, Tensor x, const Dims& before, const Dims& after, std::string_view mode) {
  for (int i = 0; x && i < x.rank(); ++i) {
    if (before[i].is(0) && after[i].is(0)) continue;
    Tensor at = call.b.iota(before[i] + x.dim(i) + after[i]) - call.b.value(before[i]);
    x = take(x, i, paddedPositions(mode, at, x.dim(i)));
  }
  return x;
}

}  // namespace

Results lowerPad(OpCall& call) {
  Tensor x = call.arg(0);
  Dims before = call.dims("before"), after = call.dims("after"), offsets, sizes = x.dims();
  size_t rank = static_cast<size_t>(x.rank());
  if (!sameCount(call, before.rank(), rank, "before") || !sameCount(call, after.rank(), rank, "after")) return Tensor();
  Dim zero = call.b.dim(0);
  auto cut = [&](Dim amount) { return call.b.mayBeNegative(amount.node()) ? larger(zero - amount, zero) : zero; };
  for (int i = 0; i < x.rank(); ++i) {
    Dim cutBefore = cut(before[i]), cutAfter = cut(after[i]);
    offsets.add(cutBefore);
    sizes.set(i, sizes[i] - cutBefore - cutAfter);
    before.set(i, before[i] + cutBefore);
    after.set(i, after[i] + cutAfter);
  }
  x = shrink(x, offsets, sizes);
  std::string mode = call.word("mode");
  if (mode == "constant")
    return call.count() > 1 ? pad(x, before, after, call.arg(1)) : pad(x, before, after, call.number("value"));
  return padByPosition(call, x, before, after, mode);
}

Results lowerShrink(OpCall& call) { return shrink(call.arg(0), call.dims("offset"), call.dims("size")); }
Results lowerFlip(OpCall& call) { return flip(call.arg(0), call.axes("axes")); }

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

// A Python slice bound as an offset into [0, size]. Symbolic bounds count from the end where they are never 0 or more,
// and are otherwise taken as they are.
Dim clampBound(GraphBuilder& b, Dim bound, Dim size, int64_t low, Dim high) {
  if (!bound.isConst()) return bound.max() < 0 ? larger(size + bound, b.dim(low)) : bound;
  if (bound.constant() >= 0) return smaller(bound, high);
  return bound.constant() == INT64_MIN ? b.dim(low) : larger(size + bound.constant(), b.dim(low));
}

Tensor sliceAxis(GraphBuilder& b, Tensor x, int axis, Dim start, Dim end, int64_t step) {
  Dim size = x.dim(axis);
  if (step > 0) {
    start = clampBound(b, start, size, 0, size);
    end = clampBound(b, end, size, 0, size);
    Tensor part = narrow(x, axis, start, larger(end - start, b.dim(0)));
    return part && step > 1 ? everyNth(part, axis, step) : part;
  }
  // Backwards: reversed, element i stands at size-1-i.
  start = clampBound(b, start, size, -1, size - 1);
  end = clampBound(b, end, size, -1, size - 1);
  Dim last = size - 1;
  Tensor part = narrow(flip(x, {{axis}}), axis, last - start, larger(start - end, b.dim(0)));
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
    Dim toEnd = step > 0 ? x.dim(axis) : call.b.dim(INT64_MIN);
    x = sliceAxis(call.b, x, axis, starts[at], call.has("ends") ? ends[at] : toEnd, step);
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
    const Dim at = positions[i].max() < 0 ? x.dim(axis) + positions[i] : positions[i];
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

Results lowerRoll(OpCall& call) {
  Tensor x = call.arg(0);
  std::vector<int64_t> shifts = call.integers("shifts");
  auto axes = distinctAxes(call, "axes", x.rank());
  if (!axes || !sameCount(call, shifts.size(), axes->size(), "shifts")) return Tensor();
  for (size_t i = 0; i < axes->size() && x; ++i) {
    Dim size = x.dim((*axes)[i]);
    x = take(x, (*axes)[i], floormod(call.b.iota(size) - shifts[i], call.b.value(larger(size, call.b.dim(1)))));
  }
  return x;
}

Results lowerRepeat(OpCall& call) {
  Tensor x = call.arg(0);
  Dims counts = call.dims("counts");
  if (!sameCount(call, counts.rank(), static_cast<size_t>(x.rank()), "counts")) return Tensor();
  Dims split, wide, result;
  for (int i = 0; i < x.rank(); ++i) {
    if (call.b.mayBeNegative(counts[i].node()))
      return call.fail(Diag::BadAttribute,
                       counts[i].isConst() ? "a count is " + describe(counts[i])
                                           : "a count of " + describe(counts[i]) + " can be negative",
                       "counts are 0 or more");
    split = split + Dims{call.b.dim(1), x.dim(i)};
    wide = wide + Dims{counts[i], x.dim(i)};
    result.add(x.dim(i) * counts[i]);
  }
  return reshape(expand(reshape(x, split), wide), result);
}

}  // namespace svod
