// Sorting along an axis. Blocks are sorted by counting: the place of an element is the number of elements
// before it. Sorted blocks are merged in pairs: an element's place is its own plus the number of elements of
// the other block before it, found by binary search. Equal elements keep their order; NaN is larger than
// every number.
#include <bit>
#include <limits>

#include "frontend/lower/common.h"
#include "frontend/lower/select.h"

namespace svod {

namespace {

constexpr int64_t kBlock = 256;         // blocks sorted by counting
constexpr int64_t kCountingOnly = 512;  // axes up to this are one block

struct Keyed {
  Tensor keys;       // [.., n]
  Tensor positions;  // where each key stood, i32 or i64
};

class Sorter {
 public:
  Sorter(GraphBuilder& b, bool descending) : b_(b), descending_(descending) {}
  /// x with the axis to sort last.
  Keyed sort(Tensor x);

 private:
  /// a stands before b, by value alone.
  Tensor before(Tensor a, Tensor b) const;
  Keyed sortByCounting(Keyed in) const;
  Keyed mergePairs(Keyed in) const;
  Keyed place(Keyed in, Tensor places, const Dims& dims) const;
  Scalar last(DType dtype) const;

  GraphBuilder& b_;
  bool descending_;
};

Tensor Sorter::before(Tensor a, Tensor b) const {
  if (descending_) std::swap(a, b);
  Tensor less = lt(a, b);
  return isFloat(a.dtype()) ? either(less, both(isNan(b), negated(isNan(a)))) : less;
}

// A key no other key stands behind; equal ones were there first.
Scalar Sorter::last(DType dtype) const {
  if (isFloat(dtype)) {
    const FloatFormat format = floatFormat(dtype);
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    if (descending_) return Scalar::ofFloat(dtype, format.signBit != 0 ? -infinity : 0);
    return Scalar::ofFloat(dtype, format.hasNan() ? nan : infinity);
  }
  if (dtype == DType::U64 && !descending_) return Scalar::ofInt(dtype, -1);
  return Scalar::ofInt(dtype, descending_ ? minInt(dtype) : maxInt(dtype));
}

// Writes keys [.., n] to their places along the last axis.
Keyed Sorter::place(Keyed in, Tensor places, const Dims& dims) const {
  if (!places) return {};
  places = contiguous(places);
  std::vector<Tensor> indices;
  for (int i = 0; i + 1 < dims.rank(); ++i) indices.push_back(positionsAlong(b_, dims, i));
  indices.push_back(places);
  auto put = [&](Tensor values) {
    Tensor empty = b_.full(dims, b_.constant(Scalar::ofInt(DType::Bool, 0)));
    return scatter(Op::Store, cast(empty, values.dtype()), indices, values, true);
  };
  return {put(in.keys), put(in.positions)};
}

Keyed Sorter::sortByCounting(Keyed in) const {
  Tensor mine = unsqueeze(in.keys, -1), other = unsqueeze(in.keys, -2);
  if (!mine || !other) return {};
  Dims dims = other.dims();
  dims.set(-2, in.keys.dim(-1));
  Tensor i = positionsAlong(b_, dims, dims.rank() - 2), j = positionsAlong(b_, dims, dims.rank() - 1);
  Tensor goesFirst = where(lt(j, i), negated(before(mine, other)), before(other, mine));
  return place(in, sum(cast(goesFirst, DType::I32), -1), in.keys.dims());
}

// keys [.., blocks, n] with an even number of sorted blocks to [.., blocks / 2, 2n].
Keyed Sorter::mergePairs(Keyed in) const {
  Dims dims = in.keys.dims();
  int64_t size = dims[-1].constant();
  Tensor block = positionsAlong(b_, dims, dims.rank() - 2), at = positionsAlong(b_, dims, dims.rank() - 1);
  Tensor isLeft = eq(floormod(block, b_.literal(int64_t{2})), 0);
  std::vector<Tensor> indices;
  for (int i = 0; i + 2 < dims.rank(); ++i) indices.push_back(positionsAlong(b_, dims, i));
  indices.push_back(where(isLeft, block + 1, block - 1));
  indices.emplace_back();
  // Elements of the left block go before equal ones of the right.
  auto isAhead = [&](Tensor candidate) {
    indices.back() = candidate;
    Tensor other = gather(in.keys, indices);
    return where(isLeft, before(other, in.keys), negated(before(in.keys, other)));
  };
  Tensor found = cast(b_.full(dims, b_.constant(Scalar::ofInt(DType::I32, 0))), DType::I32);
  for (int64_t step = size / 2; step > 0; step /= 2)
    found = contiguous(where(isAhead(found + (step - 1)), found + step, found));
  found = where(isAhead(found), found + 1, found);
  Dims joined = dims.slice(0, dims.rank() - 2) + Dims{floordiv(dims[-2], 2), dims[-1] * 2};
  Tensor places = reshape(found + cast(at, DType::I32), joined);
  return place({reshape(in.keys, joined), reshape(in.positions, joined)}, places, joined);
}

Keyed Sorter::sort(Tensor x) {
  Dim size = x.dim(-1);
  Tensor positions = expand(cast(b_.iota(size), DType::I32), x.dims());
  Keyed all{x, positions};
  if (size.max() <= kCountingOnly) return sortByCounting(all);
  int64_t padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size.max())));
  Dims before, after, blocks = x.dims(), whole = x.dims();
  for (int i = 0; i < x.rank(); ++i) {
    before.add(b_.dim(0));
    after.add(i + 1 == x.rank() ? b_.dim(padded) - size : b_.dim(0));
  }
  whole.set(-1, b_.dim(padded));
  blocks.set(-1, b_.dim(padded / kBlock));
  blocks.add(b_.dim(kBlock));
  all.keys = reshape(pad(x, before, after, b_.constant(last(x.dtype()))), blocks);
  all.positions = reshape(expand(cast(b_.iota(b_.dim(padded)), DType::I32), whole), blocks);
  all = sortByCounting(all);
  while (all.keys && !all.keys.dim(-2).is(1)) all = mergePairs(all);
  if (!all.keys || !all.positions) return {};
  return {narrow(reshape(all.keys, whole), -1, b_.dim(0), size),
          narrow(reshape(all.positions, whole), -1, b_.dim(0), size)};
}

// Keys and i64 positions sorted along the axis of the call; null after an error.
Keyed sortedAlong(OpCall& call, bool descending) {
  Tensor x = call.arg(0);
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0) return {};
  if (!expectAtMost(call, x, axis, INT32_MAX / 2, "to sort")) return {};
  std::vector<int> order = orderWithLast(x.rank(), axis);
  Keyed sorted = Sorter(call.b, descending).sort(permute(x, order));
  order = inverseOrder(order);
  return {permute(sorted.keys, order), cast(permute(sorted.positions, order), DType::I64)};
}

}  // namespace

Results lowerSort(OpCall& call) {
  Keyed sorted = sortedAlong(call, call.flag("descending"));
  return std::vector<Tensor>{sorted.keys, sorted.positions};
}

Results lowerArgsort(OpCall& call) { return sortedAlong(call, call.flag("descending")).positions; }

Results lowerTopk(OpCall& call) {
  Tensor x = call.arg(0);
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0) return Tensor();
  Dim k = call.dim("k"), size = x.dim(axis), zero = call.b.dim(0);
  if (!call.b.expectAtMost(k, size, "axis " + std::to_string(axis) + " has the first " + describe(k) + " elements"))
    return Tensor();
  if (isSelected(x, axis, k)) {
    Tensor at = narrow(selectedPositions(x, axis, k.max(), call.flag("largest")), axis, zero, k);
    return std::vector<Tensor>{elementsAt(x, axis, at), at};
  }
  Keyed sorted = sortedAlong(call, call.flag("largest"));
  if (!sorted.keys) return Tensor();
  return std::vector<Tensor>{narrow(sorted.keys, axis, zero, k), narrow(sorted.positions, axis, zero, k)};
}

}  // namespace svod
