// Reductions, indexing and what keeps or fetches whole values: each checks its operands, then becomes one node.
#include <algorithm>
#include <numeric>

#include "frontend/operands.h"
#include "support/suggest.h"

namespace svod {

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
    return b.fail(Diag::BadAttribute, "an axis of " + describe(x) + " is reduced twice", "list each axis once");
  if (sorted.empty()) return x;
  if (!canFold(op, x)) return {};
  Dims result;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool isReduced = std::ranges::binary_search(sorted, axis);
    if (!isReduced || keepDims) result.add(isReduced ? b.dim(1) : x.dim(axis));
  }
  std::erase_if(sorted, [&](int32_t axis) { return x.dim(axis).is(1); });  // one element is its own reduction
  return reshape(sorted.empty() ? x : b.wrap(b.graph().reduce(op, x.node(), sorted)), result);
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
      b.fail(Diag::DTypeMismatch, "positions are " + describe(t) + ", not integers", "cast them to i32 or i64");
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

Tensor scatter(Op op, Tensor base, std::span<const Tensor> indices, Tensor updates, bool areDistinct) {
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
  std::vector<int32_t> axes(areDistinct ? static_cast<size_t>(updates.rank()) : 0);
  std::iota(axes.begin(), axes.end(), 0);
  return b.wrap(b.graph().make(Op::Scatter, base.dtype(), src, ReduceArg{op, axes}));
}

Tensor wrapNegative(Tensor positions, Dim size) {
  if (!positions || !size || isUnsigned(positions.dtype()) || positions.node().bounds().min >= 0) return positions;
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
  if (!x) return x;
  const std::vector<std::string>& devices = x.builder()->devices();
  if (std::ranges::find(devices, device) == devices.end())
    return x.builder()->fail(
        Diag::BadAttribute, "there is no device '" + std::string(device) + "'",
        choicesFor(device, std::vector<std::string_view>(devices.begin(), devices.end())) + "; --device NAME adds one");
  if (x.dtype() == DType::Index) x = cast(x, DType::I64);
  return x.builder()->wrap(x.builder()->graph().make(Op::Copy, x.dtype(), {x.node()}, NameArg{device}));
}

Tensor custom(GraphBuilder& b, std::string_view name, std::span<const Tensor> inputs, DType dtype, const Dims& dims,
              CallKind kind) {
  std::vector<UOp> src;
  for (Tensor t : inputs) {
    t = settled(t);
    const bool isSize = t && t.dtype() == DType::Index && t.rank() == 0;  // it is passed as a number
    if (t && t.dtype() == DType::Index && !isSize) t = cast(t, DType::I64);
    if (!t) return {};
    src.push_back(t.node());
  }
  if (anyMissing(dims)) return {};
  if (kind == CallKind::Kept) return b.keptCall(name, src, dtype, dims);
  int32_t count = static_cast<int32_t>(src.size());
  for (const Dim& d : dims) src.push_back(d.node());
  return b.wrap(b.graph().make(Op::Custom, dtype, src, CustomArg{name, count}));
}

}  // namespace svod
