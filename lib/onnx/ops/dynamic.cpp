// NonZero, Compress and Unique: results as large as the values of the operands say.
#include "onnx/ops/dynamic.h"

#include <algorithm>

#include "onnx/ops/common.h"

namespace svod {

namespace {

Tensor zeros(OnnxNode& n, const Dims& dims, DType dtype) { return n.b.full(dims, cast(n.b.literal(false), dtype)); }

Dim sizeOf(OnnxNode& n, const Dims& dims) {
  Dim size = n.b.dim(1);
  for (const Dim& d : dims) size = size * d;
  return size;
}

Tensor countFrom0(OnnxNode& n, Dim size) { return cast(n.b.iota(size), DType::I64); }

}  // namespace

Places placesOf(OnnxNode& n, Tensor mask, Dim room) {
  Tensor ones = cast(cast(mask, DType::Bool), DType::I64);
  if (!ones || !room) return {};
  Tensor before = n.call("cumsum", {ones}, {{"axis", 0}, {"exclusive", true}});
  Tensor slot = contiguous(where(ne(ones, 0), before, -1));
  if (!slot) return {};
  Tensor list = scatter(Op::Store, zeros(n, {room}, DType::I64), {&slot, 1}, countFrom0(n, mask.dim(0)));
  return {list, sum(ones, 0)};
}

// [rank, count]: column i is the position of the i-th element that is not 0, in row-major order.
Results onnxNonZero(OnnxNode& n) {
  Tensor x = n.arg(0);
  Dim size = sizeOf(n, x.dims());
  Places places = placesOf(n, reshape(ne(x, 0), {size}), size);
  if (!places.list) return Tensor();
  std::vector<Tensor> rows;
  Tensor rest = places.list;
  for (int i = x.rank(); i-- > 0;) {
    Tensor extent = cast(n.b.value(larger(x.dim(i), n.b.dim(1))), DType::I64);
    rows.insert(rows.begin(), floormod(rest, extent));
    rest = floordiv(rest, extent);
  }
  Tensor all = rows.empty() ? zeros(n, {n.b.dim(0), size}, DType::I64) : n.call("stack", rows, {{"axis", 0}});
  return n.firstOf(all, 1, places.count);
}

Results onnxCompress(OnnxNode& n) {
  Tensor x = n.arg(0), condition = n.arg(1);
  if (!n.require(condition.rank() == 1, "condition is a vector")) return Tensor();
  if (!n.has("axis")) x = reshape(x, {sizeOf(n, x.dims())});
  int axis = n.has("axis") ? n.axis(n.integer("axis"), x.rank()) : 0;
  if (axis < 0) return Tensor();
  Dim length = condition.dim(0), size = x.dim(axis);
  // What a condition says behind the end of the axis is about nothing.
  if (n.b.mayBeNegative((size - length).node())) {
    length = smaller(length, size);
    condition = narrow(condition, 0, n.b.dim(0), length);
  }
  Places places = placesOf(n, condition, length);
  if (!places.list) return Tensor();
  return n.firstOf(take(x, axis, places.list), axis, places.count);
}

namespace {

/// Entries of Unique along the first axis, each as one row.
class DistinctRows {
 public:
  DistinctRows(OnnxNode& n, Tensor rows) : n_(n), rows_(rows), count_(rows.dim(0)) {
    at_ = countFrom0(n, count_);
    mine_ = unsqueeze(rows, 1), other_ = unsqueeze(rows, 0);
  }
  void find(bool isSorted);
  /// Of rows of one element, by a sort: for many rows, as it compares each with few others.
  void findBySort(bool isSorted);
  bool areMany() const {
    constexpr int64_t kMany = 512;
    return rows_.dim(1).is(1) && count_.isConst() && count_.constant() > kMany;
  }

  Tensor firstOf, isFirst;  // per row: the first row that equals it; whether it is that row
  Tensor rank;              // per row: its place among the distinct rows

 private:
  Tensor less(Tensor a, Tensor b) const;
  Tensor isLess() const;

  OnnxNode& n_;
  Tensor rows_, mine_, other_, at_;
  Dim count_;
};

// NaN is larger than every number, and equals itself.
Tensor DistinctRows::less(Tensor a, Tensor b) const {
  Tensor isLess = lt(a, b);
  return isFloat(rows_.dtype()) ? either(isLess, both(isNan(b), negated(isNan(a)))) : isLess;
}

// [i, j]: row j comes before row i, by the first column in which they differ.
Tensor DistinctRows::isLess() const {
  Tensor before = less(other_, mine_), after = less(mine_, other_);
  if (rows_.dim(1).is(1)) return squeeze(before, 2);
  Tensor decides = n_.call("argmax", {cast(either(before, after), DType::I32)}, {{"axis", 2}});
  Tensor row = unsqueeze(at_, 1), column = unsqueeze(at_, 0);
  Tensor own = gather(rows_, std::vector{row, decides}), others = gather(rows_, std::vector{column, decides});
  return less(others, own);
}

void DistinctRows::find(bool isSorted) {
  Tensor differs = ne(mine_, other_);
  if (isFloat(rows_.dtype())) differs = both(differs, negated(both(isNan(mine_), isNan(other_))));
  Tensor isSame = negated(n_.call("any", {differs}, {{"axes", AttributeValue::List{2}}}));
  const Tensor none = cast(n_.b.value(count_), DType::I64);
  firstOf = contiguous(reduce(Op::Min, where(isSame, unsqueeze(at_, 0), none), {{1}}, false));
  isFirst = eq(firstOf, at_);
  Tensor comesBefore = isSorted ? isLess() : lt(unsqueeze(at_, 0), unsqueeze(firstOf, 1));
  rank = contiguous(sum(cast(both(comesBefore, unsqueeze(isFirst, 0)), DType::I64), 1));
}

void DistinctRows::findBySort(bool isSorted) {
  const Tensor line = reshape(rows_, {count_});
  const std::vector<Tensor> sorted = n_.callAll("sort", {&line, 1}, {{"axis", 0}});
  if (sorted.size() < 2) return;
  const Tensor values = contiguous(sorted[0]), places = contiguous(sorted[1]);
  const Tensor before = gather(values, std::vector{max(at_ - 1, 0)});
  Tensor differs = ne(values, before);
  if (isFloat(rows_.dtype())) differs = both(differs, negated(both(isNan(values), isNan(before))));
  const Tensor isNew = contiguous(either(differs, eq(at_, 0)));
  // Equal elements keep their order, so that the first of a run is the first of all.
  const Tensor start = n_.call("cummax", {where(isNew, at_, 0)}, {{"axis", 0}});
  const Tensor none = zeros(n_, {count_}, DType::I64);
  const auto unsorted = [&](Tensor x) { return contiguous(scatter(Op::Store, none, {&places, 1}, x)); };
  firstOf = unsorted(gather(places, std::vector{start}));
  isFirst = eq(firstOf, at_);
  const auto counted = [&](Tensor mask) { return n_.call("cumsum", {cast(mask, DType::I64)}, {{"axis", 0}}) - 1; };
  rank = isSorted ? unsorted(counted(isNew)) : contiguous(gather(counted(isFirst), std::vector{firstOf}));
}

}  // namespace

// The distinct entries, the first place of each, which of them every entry is, and how often each occurs.
Results onnxUnique(OnnxNode& n) {
  Tensor x = n.arg(0);
  bool hasAxis = n.has("axis");
  if (!hasAxis) x = reshape(x, {sizeOf(n, x.dims())});
  int axis = hasAxis ? n.axis(n.integer("axis"), x.rank()) : 0;
  if (axis < 0) return Tensor();
  std::vector<int> order = axesFrom(0, x.rank());
  std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  Dim count = x.dim(axis);
  Dims others = x.dims();
  others.erase(axis);
  Tensor rows = reshape(permute(x, order), {count, sizeOf(n, others)});
  if (count.is(0))
    return std::vector<Tensor>{x, zeros(n, {count}, DType::I64), zeros(n, {count}, DType::I64),
                               zeros(n, {count}, DType::I64)};
  if (!rows || sizeOf(n, others).is(0)) {
    if (rows) n.unsupported("unique entries of nothing", "at least one entry");
    return Tensor();
  }
  DistinctRows distinct(n, contiguous(rows.dtype() == DType::Bool ? cast(rows, DType::U8) : rows));
  if (distinct.areMany())
    distinct.findBySort(n.flag("sorted"));
  else
    distinct.find(n.flag("sorted"));
  if (!distinct.rank) return Tensor();
  Tensor none = zeros(n, {count}, DType::I64), slot = contiguous(where(distinct.isFirst, distinct.rank, -1));
  Tensor firsts = scatter(Op::Store, none, {&slot, 1}, countFrom0(n, count));
  Tensor ones = n.b.full({count}, n.b.constant(Scalar::ofInt(DType::I64, 1)));
  Tensor counts = scatter(Op::Add, none, {&distinct.rank, 1}, ones);
  Tensor found = sum(cast(distinct.isFirst, DType::I64), 0);
  return std::vector<Tensor>{n.firstOf(take(x, axis, firsts), axis, found), n.firstOf(firsts, 0, found), distinct.rank,
                             n.firstOf(counts, 0, found)};
}

}  // namespace svod
