#include "schedule/rescale.h"

#include <optional>

namespace svod {

namespace {

/// Fewer elements stay in the second level cache from one sweep to the next. Few rows are cut that are shorter, as long as
/// all of them have that many: threads share them then.
constexpr int64_t kMany = 1 << 19, kSharedRow = 1 << 16, kFewRows = 64;
constexpr int64_t kLeastOfPart = 4096, kMostOfPart = 32768;  // elements: a part stays in the first or second level cache

/// The sum over one axis of exp(x - max x).
struct ExpSum {
  UOp sum, max, x;
  int32_t axis;
};

UOp alongAxis(Graph& g, UOp perRow, UOp x, int32_t axis) {
  std::vector<UOp> kept(x.shape().begin(), x.shape().end());
  kept[static_cast<size_t>(axis)] = g.index(1);
  return g.expand(g.reshape(perRow, kept), x.shape());
}

bool isOneAxis(UOp n, Op op) {
  return n.op() == Op::Reduce && n.argAs<ReduceArg>().op == op && n.argAs<ReduceArg>().axes.size() == 1;
}
int32_t axisOf(UOp reduce) { return reduce.argAs<ReduceArg>().axes[0]; }

std::optional<ExpSum> expSumOf(Graph& g, UOp n) {
  if (!isOneAxis(n, Op::Add) || n.src(0).op() != Op::Exp || n.src(0).hasSymbolicShape()) return std::nullopt;
  UOp distance = n.src(0).src(0);
  if (distance.op() != Op::Sub || byteSize(n.dtype()) < 4) return std::nullopt;  // a buffer would round sums of small floats
  UOp x = distance.src(0), max = distance.src(1);
  while (max.op() == Op::Reshape || max.op() == Op::Expand) max = max.src(0);
  if (!isOneAxis(max, Op::Max) || max.src(0) != x || axisOf(max) != axisOf(n)) return std::nullopt;
  if (alongAxis(g, max, x, axisOf(n)) != distance.src(1)) return std::nullopt;
  return ExpSum{n, max, x, axisOf(n)};
}

/// Into how many equal parts a row goes; 0 for none.
int64_t partsOf(const ExpSum& e) {
  const int64_t extent = e.x.dim(e.axis), rows = e.sum.maxNumel();
  const bool isShared = rows <= kFewRows && extent >= kSharedRow && rows * extent >= kMany;
  if (extent < kMany && !isShared) return 0;
  for (int64_t parts = extent / kLeastOfPart; parts * kMostOfPart >= extent; --parts)
    if (extent % parts == 0) return parts;
  return 0;
}

UOp stored(Graph& g, UOp n) { return g.make(Op::Contiguous, n.dtype(), {n}); }
UOp reduced(Graph& g, Op op, UOp x, int32_t axis) { return g.reduce(op, x, {&axis, 1}); }
UOp expOfDistance(Graph& g, UOp x, UOp from) { return g.alu(Op::Exp, {g.alu(Op::Sub, {x, from})}); }

struct Row {
  UOp max, sum;
};

/// The same maximum, and a sum that differs in its rounding.
Row inParts(Graph& g, const ExpSum& e, int64_t parts) {
  const DType dtype = e.x.dtype();
  std::vector<UOp> dims(e.x.shape().begin(), e.x.shape().end());
  dims.insert(dims.begin() + e.axis + 1, g.index(e.x.dim(e.axis) / parts));
  dims[static_cast<size_t>(e.axis)] = g.index(parts);
  UOp x = g.reshape(e.x, dims), maxima = stored(g, reduced(g, Op::Max, x, e.axis + 1));
  // A part of nothing but -inf adds nothing, as it does to the sum over the row.
  UOp isNothing = g.alu(Op::Eq, {maxima, g.constant(identity(Op::Max, dtype))});
  UOp base = g.where(isNothing, g.constant(Scalar::of(dtype, 0)), maxima);
  UOp sums = stored(g, reduced(g, Op::Add, expOfDistance(g, x, alongAxis(g, base, x, e.axis + 1)), e.axis + 1));
  UOp max = reduced(g, Op::Max, maxima, e.axis);
  UOp scale = expOfDistance(g, maxima, alongAxis(g, max, maxima, e.axis));
  return {max, reduced(g, Op::Add, g.alu(Op::Mul, {sums, scale}), e.axis)};
}

}  // namespace

UOp rescaleLongSums(Graph& g, UOp sink, Numerics numerics) {
  if (numerics == Numerics::Strict) return sink;
  for (bool changed = true; changed;) {  // what changes is built anew: the rows after it are looked for there
    changed = false;
    for (UOp n : toposort(sink)) {
      const std::optional<ExpSum> e = expSumOf(g, n);
      const int64_t parts = e ? partsOf(*e) : 0;
      if (parts == 0) continue;
      const Row row = inParts(g, *e, parts);
      const UOp from[] = {e->max, e->sum}, to[] = {row.max, row.sum};
      sink = substitute(g, sink, from, to), changed = true;
      break;
    }
  }
  return sink;
}

}  // namespace svod
