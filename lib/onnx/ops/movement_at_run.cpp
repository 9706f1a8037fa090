#include "onnx/ops/movement_at_run.h"

#include <algorithm>

#include "onnx/ops/common.h"

namespace svod {

namespace {

Tensor entry(OnnxNode& n, int operand, int64_t i) {
  return squeeze(narrow(cast(n.arg(operand), DType::I64), 0, n.b.dim(i), n.b.dim(1)), 0);
}

/// The amounts of an operand: `count` entries from `first` on, one for every axis that the operand `axes`
/// lists, or for the first axes.
struct Amounts {
  int operand, axes;
  int64_t count, first = 0;
};

/// The amount of one axis of x, `absent` where it has none.
Tensor amountOf(OnnxNode& n, const Amounts& a, int axis, int64_t absent) {
  int rank = n.arg(0).rank();
  if (!n.has(a.operand)) return number(n, absent);
  if (!n.has(a.axes)) return axis < a.count ? entry(n, a.operand, a.first + axis) : number(n, absent);
  Tensor value = number(n, absent);
  for (int64_t i = 0; i < a.count; ++i) {
    Tensor listed = entry(n, a.axes, i);
    value = where(either(eq(listed, axis), eq(listed, axis - rank)), entry(n, a.operand, a.first + i), value);
  }
  return value;
}

// The entries of a vector operand; -1 and an error unless their number is constant.
int64_t entriesOf(OnnxNode& n, int operand) {
  constexpr int64_t kMost = 64;
  Tensor x = n.arg(operand);
  if (x && x.rank() == 1 && x.dim(0).isConst() && x.dim(0).constant() <= kMost) return x.dim(0).constant();
  n.require(false, "amounts are vectors with an entry for every axis");
  return -1;
}

}  // namespace

Tensor sliceAtRun(OnnxNode& n, const std::optional<Dims>& stated) {
  Tensor x = n.arg(0);
  int64_t count = entriesOf(n, 1);
  if (count < 0 || !n.require(!stated || stated->rank() == x.rank(), "the result has the axes of x")) return {};
  std::vector<int> listed = axesFrom(0, x.rank());
  if (!n.has(3)) listed = axesFrom(0, static_cast<int>(count));
  if (n.has(3) && n.isKnown(3)) listed = n.axes(n.integers(3), x.rank());
  if (n.b.failed()) return {};
  Dims dims = stated ? *stated : x.dims();
  std::vector<Tensor> indices, counts;
  for (int i = 0; i < x.rank(); ++i) {
    Tensor start = amountOf(n, {1, 3, count}, i, 0), step = amountOf(n, {4, 3, count}, i, 1);
    Tensor end = amountOf(n, {2, 3, count}, i, INT64_MAX);
    Tensor size = cast(n.b.value(x.dim(i)), DType::I64), isBackward = lt(step, 0);
    auto limited = [&](Tensor bound, Tensor least) {
      return min(max(where(lt(bound, 0), bound + size, bound), least), where(isBackward, size - 1, size));
    };
    start = limited(start, number(n, 0)), end = limited(end, where(isBackward, number(n, -1), 0));
    counts.push_back(where(eq(step, 0), number(n, -1), max(-floordiv(start - end, step), 0)));
    bool isCut = std::ranges::find(listed, i) != listed.end();
    if (!stated && isCut) dims.set(i, n.length(max(counts.back(), 0), x.dim(i)));
    if (!dims[i]) return {};
    indices.push_back(along(start + cast(n.b.iota(dims[i]), DType::I64) * step, x.rank(), i));
  }
  if (stated && !counts.empty()) n.expect({1, 2, 3, 4}, n.call("vector", counts), dims);
  return gather(x, indices);
}

Tensor padAtRun(OnnxNode& n, const Dims& dims) {
  Tensor x = n.arg(0);
  int64_t count = entriesOf(n, 1) / 2;
  if (n.b.failed() || !n.require(dims.rank() == x.rank(), "the result has the axes of x")) return {};
  std::string mode = n.word("mode");
  std::vector<Tensor> indices, sizes;
  Tensor isInside = n.b.constant(Scalar::ofInt(DType::Bool, 1));
  for (int i = 0; i < x.rank(); ++i) {
    Tensor before = amountOf(n, {1, 3, count}, i, 0), size = cast(n.b.value(x.dim(i)), DType::I64);
    sizes.push_back(before + size + amountOf(n, {1, 3, count, count}, i, 0));
    Tensor at = along(cast(n.b.iota(dims[i]), DType::I64) - before, x.rank(), i);
    if (mode == "constant") {
      isInside = both(isInside, both(ge(at, 0), lt(at, size)));
    } else if (mode == "edge") {
      at = min(max(at, 0), size - 1);
    } else if (mode == "wrap") {
      at = floormod(at, size);
    } else if (n.require(mode == "reflect", "mode is constant, reflect, edge or wrap")) {
      Tensor period = max((size - 1) * 2, 1), folded = floormod(at, period);
      at = min(folded, period - folded);
    }
    indices.push_back(at);
  }
  if (!sizes.empty()) n.expect({1, 3}, n.call("vector", sizes), dims);
  Tensor inner = gather(x, indices);
  if (mode != "constant") return inner;
  Tensor fill = n.has(2) ? n.arg(2) : n.b.literal(false);
  if (fill.rank() > 0) fill = reshape(fill, Dims());
  return where(isInside, inner, cast(fill, x.dtype()));
}

}  // namespace svod
