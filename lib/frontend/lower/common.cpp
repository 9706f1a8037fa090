#include "frontend/lower/common.h"

#include <algorithm>
#include <numeric>

#include "ir/dim_facts.h"

namespace svod {

Tensor matrixProduct(Tensor a, Tensor b, DType wide) {
  Tensor rows = unsqueeze(a, -2), columns = unsqueeze(b, -3);  // [.., m, 1, k], [.., 1, k, n]
  if (!rows || !columns) return {};
  std::vector<int> order(columns.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[columns.rank() - 1], order[columns.rank() - 2]);
  columns = permute(columns, order);  // [.., 1, n, k]
  return reduce(Op::Add, cast(rows, wide) * cast(columns, wide), {{-1}}, false);
}

Tensor softmaxOf(Tensor x, int axis) {
  Tensor e = exp(x - maximum(x, axis, true));
  return e * recip(sum(e, axis, true));  // one division per row
}

Tensor meanOf(Tensor x, const std::vector<int>& axes) {
  if (!x) return {};
  Dim count = x.builder()->dim(1);
  for (int axis : axes) count = count * x.dim(axis);
  Tensor total = reduce(Op::Add, x, axes, true);
  return total / cast(x.builder()->value(count), x.dtype());
}

Tensor positionsAlong(GraphBuilder& b, const Dims& dims, int axis) {
  Tensor positions = b.iota(dims[axis]);
  for (int i = axis + 1; i < dims.rank(); ++i) positions = unsqueeze(positions, -1);
  return positions;
}

std::vector<int> orderWithLast(int rank, int axis) {
  std::vector<int> order;
  for (int i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  return order;
}

std::vector<int> inverseOrder(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int>(i);
  return inverse;
}

// --- Attributes

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

// --- Scans

namespace {

// Every prefix folded on its own: the work is the square of the length.
Tensor scanDirectly(Op op, Tensor x, int axis, Prefix prefix) {
  GraphBuilder& b = *x.builder();
  Tensor terms = unsqueeze(x, axis);  // [.., 1, j, ..]; the prefix that ends at i folds the j up to i
  if (!terms) return {};
  Dims dims = terms.dims();
  dims.set(axis, x.dim(axis));
  Tensor i = positionsAlong(b, dims, axis), j = positionsAlong(b, dims, axis + 1);
  Tensor isInside = prefix == Prefix::Inclusive ? le(j, i) : lt(j, i);
  return reduce(op, where(isInside, terms, b.constant(identity(op, x.dtype()))), {{axis + 1}}, false);
}

}  // namespace

Tensor scan(Op op, Tensor x, int axis, Prefix prefix) {
  constexpr int64_t kBlock = 8;  // what a prefix costs for each element, as every one is folded on its own
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  Dim size = x.dim(axis);
  if (size.max() <= 2 * kBlock) return scanDirectly(op, x, axis, prefix);
  Dim blocks = floordiv(size + (kBlock - 1), kBlock);
  Dims before, after, split = x.dims(), whole = x.dims();
  for (int i = 0; i < x.rank(); ++i) {
    before.add(b.dim(0));
    after.add(i == axis ? blocks * kBlock - size : b.dim(0));
  }
  split.set(axis, blocks);
  split.insert(axis + 1, b.dim(kBlock));
  whole.set(axis, blocks * kBlock);
  Tensor parts = reshape(pad(x, before, after, b.constant(identity(op, x.dtype()))), split);
  Tensor totals = contiguous(reduce(op, parts, {{axis + 1}}, false));
  Tensor carried = unsqueeze(contiguous(scan(op, totals, axis, Prefix::Exclusive)), axis + 1);
  Tensor own = scanDirectly(op, parts, axis + 1, prefix);
  return narrow(reshape(elementwise(op, {own, carried}), whole), axis, b.dim(0), size);
}

bool expectAtMost(OpCall& call, const Tensor& x, int axis, int64_t most, const std::string& forWhat) {
  const UOp size = x.dim(axis).node();
  if (size.bounds().max <= most) return true;
  call.b.lackRoom({&size, 1}, most);
  call.fail(Diag::TooLarge, "axis " + std::to_string(axis) + " of " + describe(x) + " is too long " + forWhat,
            call.b.roomHelp("at most " + std::to_string(most) + " elements"));
  return false;
}

// --- Windows

namespace {

constexpr int64_t kLongestWindowAxis = int64_t{1} << 31;  // products of a stride and a position stay small

void failPerAxis(OpCall& call, std::string_view name, size_t axes, int64_t smallest) {
  call.fail(Diag::BadAttribute, "attribute '" + std::string(name) + "' does not fit",
            "give one number, or one for each of the " + std::to_string(axes) + " axes, from " +
                std::to_string(smallest) + " on");
}

// `name` as one number per axis; nothing after an error.
std::vector<int64_t> perAxis(OpCall& call, std::string_view name, size_t axes, int64_t smallest) {
  std::vector<int64_t> values = call.integers(name);
  if (values.size() == 1) values.assign(axes, values[0]);
  bool inRange = std::ranges::all_of(values, [&](int64_t v) { return v >= smallest && v <= kLongestWindowAxis; });
  if (values.size() == axes && inRange) return values;
  failPerAxis(call, name, axes, smallest);
  return {};
}

// All befores and then all afters; nothing after an error.
Dims paddingOf(OpCall& call, int axes) {
  Dims pads = call.dims("padding");
  if (pads.rank() == 1)
    while (pads.rank() < axes) pads.add(pads[0]);
  const bool isOneSided = pads.rank() == 2 * axes;
  const UOp most = call.b.dim(kLongestWindowAxis).node();
  const bool inRange = std::ranges::all_of(pads, [&](const Dim& d) {
    return !call.b.mayBeNegative(d.node()) && lessEqualDims(d.node(), most) == Truth::Always;
  });
  if (inRange && (isOneSided || pads.rank() == axes)) return isOneSided ? pads : pads + pads;
  failPerAxis(call, "padding", static_cast<size_t>(pads.rank() > axes ? 2 * axes : axes), 0);
  return {};
}

}  // namespace

std::vector<WindowAxis> windowAttributes(OpCall& call, const Tensor& x, int firstAxis, const Dims& kernel) {
  size_t count = static_cast<size_t>(kernel.rank());
  for (int i = 0; i < kernel.rank(); ++i)
    if (!expectAtMost(call, x, firstAxis + i, kLongestWindowAxis, "for windows")) return {};
  std::vector<int64_t> strides = perAxis(call, "stride", count, 1), dilations = perAxis(call, "dilation", count, 1);
  const Dims pads = paddingOf(call, kernel.rank());
  if (strides.empty() || dilations.empty() || pads.rank() == 0) return {};
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < count; ++i) {
    WindowAxis a;
    a.size = x.dim(firstAxis + static_cast<int>(i));
    a.kernel = kernel[static_cast<int>(i)];
    a.stride = strides[i];
    a.dilation = dilations[i];
    a.before = pads[static_cast<int>(i)];
    a.after = pads[static_cast<int>(count + i)];
    if (a.kernel.min() < 1 || a.kernel.max() > kLongestWindowAxis) {
      call.fail(Diag::ShapeMismatch, "a kernel " + describe(kernel) + " over " + describe(x),
                "kernels have 1 to 2^31 elements");
      return {};
    }
    axes.push_back(a);
  }
  return axes;
}

namespace {

void countWindows(GraphBuilder& b, WindowAxis& a, HangingWindows hanging) {
  const Dim room = a.size + a.before + a.after - (a.kernel - 1) * a.dilation - 1;
  const Dim up = floordiv(room + (a.stride - 1), a.stride) + 1;
  a.count = floordiv(room, a.stride) + 1;
  a.mayHang = hanging.last;
  if (hanging.last) {
    a.count = smaller(up, floordiv(a.size + a.before - 1, a.stride) + 1);
  } else if (hanging.inShort && a.stride > 1 && room.min() < 0) {
    a.count = larger(a.count, smaller(up, b.dim(1)));
    a.mayHang = true;
  }
}

}  // namespace

std::vector<WindowAxis> windowAxes(OpCall& call, const Tensor& x, int firstAxis, const Dims& kernel,
                                   HangingWindows hanging) {
  std::vector<WindowAxis> axes = windowAttributes(call, x, firstAxis, kernel);
  for (size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& a = axes[i];
    countWindows(call.b, a, hanging);
    if (a.count.max() < 0 || (a.count.isConst() && a.count.constant() < 1 && a.size.max() > 0)) {
      call.fail(Diag::ShapeMismatch,
                "a kernel of " + describe(a.kernel) + " does not fit axis " +
                    std::to_string(firstAxis + static_cast<int>(i)) + " of " + describe(x),
                "use a smaller kernel, or padding");
      return {};
    }
  }
  return axes;
}

namespace {

bool isWhole(const WindowAxis& a) { return a.before.is(0) && a.after.is(0) && a.count.isConst(); }
bool isPointwise(const WindowAxis& a) { return a.kernel.is(1) && a.stride == 1 && isWhole(a) && a.count == a.size; }
// The last window may hang over the end.
bool isTiling(const WindowAxis& a) {
  return a.kernel.is(a.stride) && a.dilation == 1 && isWhole(a) && a.size.isConst() &&
         a.count.constant() * a.stride <= a.size.constant();
}

// Windows that do not overlap are blocks of the axis: [.., count, kernel, ..] for each, then all counts
// first.
Tensor unfoldTiles(Tensor x, int firstAxis, const std::vector<WindowAxis>& axes) {
  Dims split = x.dims().slice(0, firstAxis);
  std::vector<int> order;
  for (int i = 0; i < firstAxis; ++i) order.push_back(i);
  int count = static_cast<int>(axes.size());
  for (int i = 0; i < count; ++i) {
    x = narrow(x, firstAxis + i, x.builder()->dim(0), axes[i].count * axes[i].kernel);
    if (!x) return {};
    split = split + Dims{axes[i].count, axes[i].kernel};
    order.push_back(firstAxis + 2 * i);
  }
  for (int i = 0; i < count; ++i) order.push_back(firstAxis + 2 * i + 1);
  return permute(reshape(x, split), order);
}

}  // namespace

Tensor unfold(Tensor x, int firstAxis, const std::vector<WindowAxis>& axes) {
  if (!x) return {};
  if (std::ranges::all_of(axes, [](const WindowAxis& a) { return isTiling(a) || isPointwise(a); }))
    return unfoldTiles(x, firstAxis, axes);
  GraphBuilder& b = *x.builder();
  Dims result = x.dims().slice(0, firstAxis);
  for (const WindowAxis& a : axes) result.add(a.count);
  for (const WindowAxis& a : axes) result.add(a.kernel);
  int count = static_cast<int>(axes.size());
  std::vector<Tensor> indices;
  for (int i = 0; i < firstAxis; ++i) indices.push_back(positionsAlong(b, result, i));
  for (int i = 0; i < count; ++i) {
    Tensor window = positionsAlong(b, result, firstAxis + i), tap = positionsAlong(b, result, firstAxis + count + i);
    Tensor at = window * axes[i].stride + tap * axes[i].dilation;
    indices.push_back(axes[i].before.is(0) ? at : at - b.value(axes[i].before));
  }
  return gather(x, indices);
}

Tensor padAlong(Tensor x, int axis, int64_t before, int64_t after) {
  if (!x || (before == 0 && after == 0)) return x;
  GraphBuilder& b = *x.builder();
  Dims front(std::vector<Dim>(static_cast<size_t>(x.rank()), b.dim(0))), back = front;
  front.set(axis, b.dim(before)), back.set(axis, b.dim(after));
  return pad(x, front, back, 0);
}

Tensor meetingPositions(Tensor o, Tensor t, const WindowAxis& a) {
  if (!o) return {};
  Tensor at = o + o.builder()->value(a.before) - t * a.dilation;
  return a.stride == 1 ? at : where(eq(floormod(at, a.stride), 0), floordiv(at, a.stride), -1);
}

}  // namespace svod
