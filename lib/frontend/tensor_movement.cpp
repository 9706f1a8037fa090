// Movement ops, indexing and reductions: each checks its axes and sizes, then becomes one node.
#include <algorithm>
#include <numeric>

#include "frontend/builder.h"
#include "ir/shape.h"

namespace svod {

namespace {

std::vector<UOp> nodes(const Dims& dims) {
  std::vector<UOp> all;
  for (const Dim& d : dims) all.push_back(d.node());
  return all;
}

bool anyMissing(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d; });
}

bool checkSizes(GraphBuilder& b, const Dims& dims) { return b.checkSizes(nodes(dims)); }

std::string pairText(const Tensor& x, const Dims& dims) { return describe(x) + " and " + describe(dims); }

// Literals become tensors where they are moved.
Tensor settled(Tensor x) { return x && x.isLiteral() ? cast(x, commonDType({&x, 1})) : x; }

}  // namespace

Tensor reshape(Tensor x, const Dims& dims) {
  x = settled(x);
  if (!x || anyMissing(dims)) return {};
  GraphBuilder& b = *x.builder();
  Graph& g = b.graph();
  if (!checkSizes(b, dims)) return {};
  std::vector<UOp> from = nodes(x.dims()), to = nodes(dims);
  UOp have = numel(g, from), want = numel(g, to);
  if (have != want)
    return b.fail(Diag::ShapeMismatch,
                  "cannot reshape " + describe(x) + " to " + describe(dims) + ": " + describe(Dim(g, have)) +
                      " elements become " + describe(Dim(g, want)),
                  "the number of elements must stay the same; one dim may be -1 to be computed");
  return b.wrap(g.reshape(x.node(), to));
}

Dims broadcastDims(std::span<const Tensor> tensors) {
  Dims common;
  for (const Tensor& t : tensors) {
    Dims dims = t.dims();
    while (common.rank() < dims.rank()) common.insert(0, t.builder()->dim(1));
    for (int i = 1; i <= dims.rank(); ++i) {
      Dim have = common[-i], next = dims[-i];
      if (have == next || next.is(1)) continue;
      if (!have.is(1)) {
        std::string shapes;
        for (const Tensor& s : tensors) shapes += (shapes.empty() ? "" : " and ") + describe(s);
        t.builder()->fail(Diag::ShapeMismatch,
                          "shapes do not broadcast: " + shapes + " (axis " + std::to_string(-i) + ": " +
                              describe(have) + " against " + describe(next) + ")",
                          "dims that differ must be 1; reshape or permute an operand");
        return {};
      }
      common.set(-i, next);
    }
  }
  return common;
}

Tensor expand(Tensor x, const Dims& dims) {
  x = settled(x);
  if (!x || anyMissing(dims)) return {};
  GraphBuilder& b = *x.builder();
  Dims from = x.dims();
  if (from == dims) return x;
  bool fits = from.rank() <= dims.rank();
  for (int i = 1; fits && i <= from.rank(); ++i) fits = from[-i] == dims[-i] || from[-i].is(1);
  if (!fits)
    return b.fail(Diag::ShapeMismatch, "cannot expand " + describe(x) + " to " + describe(dims),
                  "shapes align at the right, and only dims of 1 stretch");
  Dims aligned = from;
  while (aligned.rank() < dims.rank()) aligned.insert(0, b.dim(1));
  Tensor lifted = reshape(x, aligned);
  return lifted ? b.wrap(b.graph().expand(lifted.node(), nodes(dims))) : lifted;
}

Tensor permute(Tensor x, std::initializer_list<int> order) {
  return permute(x, std::span(order.begin(), order.size()));
}

Tensor permute(Tensor x, std::span<const int> order) {
  x = settled(x);
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  std::vector<int32_t> axes;
  for (int a : order) {
    int axis = b.axis(x, a);
    if (axis < 0) return {};
    axes.push_back(axis);
  }
  std::vector<int32_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  bool complete = static_cast<int>(axes.size()) == x.rank();
  for (size_t i = 0; complete && i < sorted.size(); ++i) complete = sorted[i] == static_cast<int32_t>(i);
  if (!complete)
    return b.fail(Diag::BadAttribute, "the order must name each axis of " + describe(x) + " once",
                  "list " + std::to_string(x.rank()) + " axes");
  return b.wrap(b.graph().permute(x.node(), axes));
}

Tensor pad(Tensor x, const Dims& before, const Dims& after, Operand fill) {
  x = settled(x);
  if (!x || anyMissing(before) || anyMissing(after)) return {};
  GraphBuilder& b = *x.builder();
  if (!checkSizes(b, before) || !checkSizes(b, after)) return {};
  if (before.rank() != x.rank() || after.rank() != x.rank())
    return b.fail(Diag::ShapeMismatch, "padding of " + pairText(x, before) + " and " + describe(after),
                  "give one amount before and one after per axis");
  Tensor value = cast(fill.in(b), x.dtype());
  if (!value) return {};
  if (value.rank() != 0)
    return b.fail(Diag::ShapeMismatch, "the fill value is " + describe(value), "use a scalar");
  for (const Dims* amounts : {&before, &after})
    for (const Dim& d : *amounts)
      if (b.mayBeNegative(d.node()))
        return b.fail(Diag::BadAttribute, "a padding of " + describe(d) + " can be negative",
                      "use shrink to cut");
  return b.wrap(b.graph().pad(x.node(), value.node(), nodes(before), nodes(after)));
}

Tensor shrink(Tensor x, const Dims& offsets, const Dims& sizes) {
  x = settled(x);
  if (!x || anyMissing(offsets) || anyMissing(sizes)) return {};
  GraphBuilder& b = *x.builder();
  if (!checkSizes(b, offsets) || !checkSizes(b, sizes)) return {};
  if (offsets.rank() != x.rank() || sizes.rank() != x.rank())
    return b.fail(Diag::ShapeMismatch, "ranges of " + pairText(x, offsets) + " and " + describe(sizes),
                  "give one offset and one size per axis");
  for (int i = 0; i < x.rank(); ++i) {
    Dim slack = x.dim(i) - offsets[i] - sizes[i];
    if (offsets[i].min() < 0 || sizes[i].max() < 0 || slack.max() < 0 || (slack.isConst() && slack.min() < 0))
      return b.fail(Diag::ShapeMismatch, "elements " + describe(offsets[i]) + " to " +
                                             describe(offsets[i] + sizes[i]) + " of axis " +
                                             std::to_string(i) + " are outside " + describe(x));
  }
  return b.wrap(b.graph().shrink(x.node(), nodes(offsets), nodes(sizes)));
}

Tensor narrow(Tensor x, int axis, Dim offset, Dim size) {
  if (!x) return {};
  axis = x.builder()->axis(x, axis);
  if (axis < 0) return {};
  Dims offsets, sizes = x.dims();
  for (int i = 0; i < x.rank(); ++i) offsets.add(i == axis ? offset : x.builder()->dim(0));
  sizes.set(axis, size);
  return shrink(x, offsets, sizes);
}

Tensor flip(Tensor x, std::span<const int> axes) {
  x = settled(x);
  if (!x) return {};
  std::vector<int32_t> sorted;
  for (int a : axes) {
    int axis = x.builder()->axis(x, a);
    if (axis < 0) return {};
    if (x.dim(axis).is(1)) continue;
    sorted.push_back(axis);
  }
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return x.builder()->fail(Diag::BadAttribute, "an axis of " + describe(x) + " is flipped twice",
                             "list each axis once");
  return x.builder()->wrap(x.builder()->graph().flip(x.node(), sorted));
}

Tensor unsqueeze(Tensor x, int axis) {
  if (!x) return {};
  int at = x.builder()->axisOfRank(x.rank() + 1, axis, x);
  if (at < 0) return {};
  Dims dims = x.dims();
  dims.insert(at, x.builder()->dim(1));
  return reshape(x, dims);
}

Tensor squeeze(Tensor x, int axis) {
  if (!x) return {};
  axis = x.builder()->axis(x, axis);
  if (axis < 0) return {};
  if (!x.dim(axis).is(1))
    return x.builder()->fail(Diag::ShapeMismatch, "axis " + std::to_string(axis) + " of " + describe(x) +
                                                      " is not 1 and cannot be dropped");
  Dims dims = x.dims();
  dims.erase(axis);
  return reshape(x, dims);
}

namespace {

// Sums and products; false and an error for dtypes that only hold values.
bool canFold(Op op, const Tensor& x) {
  if (isComputedIn(x.dtype()) || op == Op::Max || op == Op::Min || op == Op::Store) return true;
  x.builder()->fail(Diag::DTypeMismatch, std::string(toText(x.dtype())) + " only holds values, got " + describe(x),
                    "cast it to f32 first");
  return false;
}

}  // namespace

Tensor reduce(Op op, Tensor x, std::span<const int> axes, bool keepDims) {
  x = settled(x);
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  std::vector<int32_t> sorted;
  for (int a : axes) {
    int axis = b.axis(x, a);
    if (axis < 0) return {};
    sorted.push_back(axis);
  }
  if (axes.empty())
    for (int i = 0; i < x.rank(); ++i) sorted.push_back(i);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return b.fail(Diag::BadAttribute, "an axis of " + describe(x) + " is reduced twice",
                  "list each axis once");
  if (sorted.empty()) return x;
  if (!canFold(op, x)) return {};
  Tensor folded = b.wrap(b.graph().reduce(op, x.node(), sorted));
  if (!keepDims || !folded) return folded;
  Dims kept = x.dims();
  for (int32_t axis : sorted) kept.set(axis, b.dim(1));
  return reshape(folded, kept);
}

Tensor accumulate(Op op, Tensor x, std::span<const int> axes, bool keepDims) {
  x = settled(x);
  if (!x) return {};
  DType to = x.dtype() == DType::Bool ? DType::I32 : x.dtype();
  DType wide = x.dtype() == DType::Index ? DType::Index : sumDType(x.dtype());
  return cast(reduce(op, cast(x, wide), axes, keepDims), to);
}

namespace {

// Index operands as nodes of one shape. An empty list means an error was recorded.
std::vector<UOp> indexNodes(GraphBuilder& b, std::span<const Tensor> indices, const Dims& dims) {
  std::vector<UOp> all;
  for (Tensor t : indices) {
    t = settled(t);
    if (!t) return {};
    if (!isInt(t.dtype())) {
      b.fail(Diag::DTypeMismatch, "positions are " + describe(t) + ", not integers",
             "cast them to i32 or i64");
      return {};
    }
    if (t.rank() > 0) t = expand(t, dims);
    if (!t) return {};
    all.push_back(t.node());
  }
  return all;
}

bool oneIndexPerAxis(GraphBuilder& b, const Tensor& x, std::span<const Tensor> indices) {
  if (x.rank() > 0 && static_cast<int>(indices.size()) == x.rank()) return true;
  b.fail(Diag::Arity, std::to_string(indices.size()) + " index tensors for " + describe(x),
         "give one per axis; a scalar has none");
  return false;
}

}  // namespace

Tensor gather(Tensor x, std::span<const Tensor> indices) {
  x = settled(x);
  if (!x || !oneIndexPerAxis(*x.builder(), x, indices)) return {};
  GraphBuilder& b = *x.builder();
  std::vector<UOp> index = indexNodes(b, indices, broadcastDims(indices));
  if (index.empty() || b.failed()) return {};
  index.insert(index.begin(), x.node());
  return b.wrap(b.graph().make(Op::Gather, x.dtype(), index));
}

Tensor take(Tensor x, int axis, Tensor positions) {
  if (!x || !positions) return {};
  GraphBuilder& b = *x.builder();
  axis = b.axis(x, axis);
  if (axis < 0) return {};
  std::vector<Tensor> indices;
  for (int i = 0; i < x.rank(); ++i) {
    Tensor index = i == axis ? positions : b.iota(x.dim(i));
    int axesAfter = x.rank() - 1 - i + (i < axis ? positions.rank() - 1 : 0);
    if (index.rank() > 0)
      for (int n = 0; n < axesAfter; ++n) index = unsqueeze(index, -1);
    indices.push_back(index);
  }
  return gather(x, indices);
}

Tensor scatter(Op op, Tensor base, std::span<const Tensor> indices, Tensor updates) {
  base = settled(base);
  if (!base || !updates || !oneIndexPerAxis(*base.builder(), base, indices) || !canFold(op, base)) return {};
  GraphBuilder& b = *base.builder();
  std::vector<Tensor> all(indices.begin(), indices.end());
  all.push_back(updates);
  Dims dims = broadcastDims(all);
  std::vector<UOp> src = indexNodes(b, indices, dims);
  updates = expand(cast(updates, base.dtype()), dims);
  if (src.empty() || !updates || b.failed()) return {};
  src.insert(src.begin(), base.node());
  src.push_back(updates.node());
  return b.wrap(b.graph().make(Op::Scatter, base.dtype(), src, ReduceArg{op, {}}));
}

Tensor wrapNegative(Tensor positions, Dim size) {
  if (!positions || !size || isUnsigned(positions.dtype()) || positions.node().bounds().min >= 0)
    return positions;
  bool isWide = size.max() > INT32_MAX || info(positions.dtype()).bits == 64;
  positions = cast(positions, isWide ? DType::I64 : DType::I32);
  Tensor count = cast(positions.builder()->value(size), positions.dtype());
  return where(lt(positions, 0), positions + count, positions);
}

Tensor contiguous(Tensor x) {
  x = settled(x);
  if (x && x.dtype() == DType::Index) x = cast(x, DType::I64);
  return x ? x.builder()->wrap(x.builder()->graph().make(Op::Contiguous, x.dtype(), {x.node()})) : x;
}

Tensor copyTo(Tensor x, std::string_view device) {
  x = settled(x);
  if (x && x.dtype() == DType::Index) x = cast(x, DType::I64);
  return x ? x.builder()->wrap(x.builder()->graph().make(Op::Copy, x.dtype(), {x.node()}, NameArg{device}))
           : x;
}

Tensor custom(GraphBuilder& b, std::string_view name, std::span<const Tensor> inputs, DType dtype,
              const Dims& dims) {
  std::vector<UOp> src;
  for (Tensor t : inputs) {
    t = settled(t);
    const bool isSize = t && t.dtype() == DType::Index && t.rank() == 0;  // it is passed as a number
    if (t && t.dtype() == DType::Index && !isSize) t = cast(t, DType::I64);
    if (!t) return {};
    src.push_back(t.node());
  }
  if (anyMissing(dims)) return {};
  int32_t count = static_cast<int32_t>(src.size());
  for (const Dim& d : dims) src.push_back(d.node());
  return b.wrap(b.graph().make(Op::Custom, dtype, src, CustomArg{name, count}));
}

}  // namespace svod
