// Gathers, scatters and what is made of positions.
#include "frontend/lower/common.h"
#include "ir/c_function.h"

namespace svod {

namespace {

bool checkPositions(OpCall& call, const Tensor& positions) {
  if (isInt(positions.dtype())) return true;
  call.fail(Diag::DTypeMismatch, "positions are " + describe(positions) + ", not integers", "cast them to i32 or i64");
  return false;
}

bool haveShape(OpCall& call, const Dims& dims, const Dims& want) {
  bool fits = dims.rank() == want.rank();
  for (int i = 0; fits && i < dims.rank(); ++i) fits = call.b.agree(dims[i], want[i]);
  return fits;
}

Tensor settledPositions(Tensor t) { return t.isLiteral() ? cast(t, DType::I64) : t; }

// One index tensor per axis of x for positions that replace one axis element by element.
std::vector<Tensor> elementIndices(OpCall& call, const Tensor& x, const Tensor& positions, int axis) {
  std::vector<Tensor> indices;
  for (int i = 0; i < x.rank(); ++i)
    indices.push_back(i == axis ? wrapNegative(positions, x.dim(axis)) : positionsAlong(call.b, positions.dims(), i));
  return indices;
}

// One index tensor per axis of x for positions [.., m]: after `batch` shared axes, the last dim names m axes
// of x. Empty after an error.
std::vector<Tensor> tupleIndices(OpCall& call, const Tensor& x, const Tensor& positions, int batch) {
  if (!call.require(positions.rank() > batch, "positions are [.., m]")) return {};
  Dim last = positions.dim(-1);
  bool fits = last.isConst() && last.constant() >= 0 && batch + last.constant() <= x.rank();
  if (!call.require(fits, "the last dim of positions must be a constant, at most the axes of x")) return {};
  for (int i = 0; i < batch; ++i)
    if (!call.require(call.b.agree(x.dim(i), positions.dim(i)), "the batch dims must be equal")) return {};
  int named = static_cast<int>(last.constant());
  Dims result = positions.dims().slice(0, positions.rank() - 1) + x.dims().slice(batch + named, x.rank());
  int rest = x.rank() - batch - named;
  std::vector<Tensor> indices;
  for (int i = 0; i < batch; ++i) indices.push_back(positionsAlong(call.b, result, i));
  for (int i = 0; i < named; ++i) {
    Tensor index = squeeze(narrow(positions, -1, call.b.dim(i), call.b.dim(1)), -1);
    index = wrapNegative(index, x.dim(batch + i));
    if (index && index.rank() > 0)
      for (int n = 0; n < rest; ++n) index = unsqueeze(index, -1);
    indices.push_back(index);
  }
  for (int i = 0; i < rest; ++i) indices.push_back(positionsAlong(call.b, result, result.rank() - rest + i));
  return indices;
}

Op scatterOp(OpCall& call) {
  std::string mode = call.word("mode");
  return mode == "add"   ? Op::Add
         : mode == "mul" ? Op::Mul
         : mode == "max" ? Op::Max
         : mode == "min" ? Op::Min
                         : Op::Store;
}

}  // namespace

Results lowerGather(OpCall& call) {
  Tensor x = call.arg(0), positions = settledPositions(call.arg(1));
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0 || !checkPositions(call, positions)) return Tensor();
  return take(x, axis, wrapNegative(positions, x.dim(axis)));
}

Results lowerGatherElements(OpCall& call) {
  Tensor x = call.arg(0), positions = call.arg(1);
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0 || !checkPositions(call, positions) ||
      !call.require(positions.rank() == x.rank(), "positions must have as many axes as x"))
    return Tensor();
  return gather(x, elementIndices(call, x, positions, axis));
}

Results lowerGatherNd(OpCall& call) {
  Tensor x = call.arg(0), positions = call.arg(1);
  int64_t batch = call.integer("batch_dims");
  if (!checkPositions(call, positions)) return Tensor();
  if (batch < 0 || batch > x.rank() || batch > positions.rank())
    return call.fail(Diag::BadAttribute, std::to_string(batch) + " batch dims", "at most the axes both operands have");
  std::vector<Tensor> indices = tupleIndices(call, x, positions, static_cast<int>(batch));
  if (indices.empty()) return Tensor();
  // Positions in every axis: the result has no axis of x left, and every index may be a scalar.
  return gather(x, indices);
}

Results lowerScatterElements(OpCall& call) {
  Tensor x = call.arg(0), positions = call.arg(1), updates = call.arg(2);
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0 || !checkPositions(call, positions) ||
      !call.require(positions.rank() == x.rank() && haveShape(call, updates.dims(), positions.dims()),
                    "positions and updates must have one shape, with as many axes as x"))
    return Tensor();
  return scatter(scatterOp(call), x, elementIndices(call, x, positions, axis), updates, call.flag("distinct"));
}

Results lowerScatterNd(OpCall& call) {
  Tensor x = call.arg(0), positions = call.arg(1), updates = call.arg(2);
  if (!checkPositions(call, positions)) return Tensor();
  std::vector<Tensor> indices = tupleIndices(call, x, positions, 0);
  if (indices.empty()) return Tensor();
  int named = static_cast<int>(positions.dim(-1).constant());
  Dims want = positions.dims().slice(0, positions.rank() - 1) + x.dims().slice(named, x.rank());
  if (!call.require(haveShape(call, updates.dims(), want), "updates must have the shape " + describe(want)))
    return Tensor();
  return scatter(scatterOp(call), x, indices, updates, call.flag("distinct"));
}

Results lowerGatherAt(OpCall& call) { return gather(call.arg(0), call.operands.subspan(1)); }

Results lowerScatterAt(OpCall& call) {
  return scatter(scatterOp(call), call.arg(0), call.operands.subspan(1, call.count() - 2), call.arg(call.count() - 1),
                 call.flag("distinct"));
}

Results lowerOneHot(OpCall& call) {
  Tensor ids = settledPositions(call.arg(0));
  Dim depth = call.dim("depth");
  int axis = call.b.axisOfRank(ids.rank() + 1, call.integer("axis"), ids);
  if (axis < 0 || !checkPositions(call, ids)) return Tensor();
  Tensor wrapped = unsqueeze(wrapNegative(ids, depth), axis);
  if (!wrapped) return Tensor();
  Dims dims = wrapped.dims();
  dims.set(axis, depth);
  Tensor isHot = eq(wrapped, cast(positionsAlong(call.b, dims, axis), wrapped.dtype()));
  DType dtype = call.dtype("dtype");
  return where(isHot, cast(call.b.literal(call.number("on")), dtype), cast(call.b.literal(call.number("off")), dtype));
}

namespace {

// Keeps x where the column minus the row fulfils the comparison with diagonal k.
Tensor triangle(OpCall& call, bool upper) {
  Tensor x = call.arg(0);
  if (!call.require(x.rank() >= 2, "needs a matrix")) return {};
  Tensor row = positionsAlong(call.b, x.dims(), x.rank() - 2), column = positionsAlong(call.b, x.dims(), x.rank() - 1);
  Tensor diagonal = column - row;
  int64_t k = call.integer("k");
  return where(upper ? ge(diagonal, k) : le(diagonal, k), x, cast(call.b.literal(false), x.dtype()));
}

}  // namespace

Results lowerTriu(OpCall& call) { return triangle(call, true); }
Results lowerTril(OpCall& call) { return triangle(call, false); }

namespace {

Tensor cumulative(OpCall& call, Op op) {
  Tensor x = call.arg(0);
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0) return {};
  bool folds = op == Op::Add || op == Op::Mul;
  DType result = folds && x.dtype() == DType::Bool ? DType::I32 : x.dtype();
  if (folds) x = cast(x, sumDType(x.dtype()));
  bool reverse = call.flag("reverse");
  if (reverse) x = flip(x, {{axis}});
  x = scan(op, x, axis, call.flag("exclusive") ? Prefix::Exclusive : Prefix::Inclusive);
  if (reverse) x = flip(x, {{axis}});
  return cast(x, result);
}

}  // namespace

Results lowerCumsum(OpCall& call) { return cumulative(call, Op::Add); }
Results lowerCumprod(OpCall& call) { return cumulative(call, Op::Mul); }
Results lowerCummax(OpCall& call) { return cumulative(call, Op::Max); }
Results lowerCummin(OpCall& call) { return cumulative(call, Op::Min); }

// --- Placement

Results lowerHeld(OpCall& call) { return call.b.held(call.arg(0)); }
Results lowerExpect(OpCall& call) {
  call.b.expect(call.arg(0), call.arg(1), call.word("text"), *expectationKind(call.word("kind")));
  return call.arg(0);
}
Results lowerEqualSizes(OpCall& call) {
  call.b.expectEqual(call.dim("a"), call.dim("b"), call.word("text"));
  return cast(call.b.value(call.dim("a")), DType::I64);
}
Results lowerContiguous(OpCall& call) { return contiguous(call.arg(0)); }
Results lowerCopy(OpCall& call) { return copyTo(call.arg(0), call.word("device")); }
Results lowerCustom(OpCall& call) {
  std::vector<Tensor> inputs(call.operands.begin(), call.operands.end());
  for (const Dim& size : call.dims("values")) inputs.push_back(call.b.value(size));
  std::string function = call.word("function");
  if (call.has("source")) {
    const CFunctionName name{call.word("source"), function};
    if (!name.source.ends_with(".c") || !isCName(function))
      return call.fail(Diag::BadAttribute, "'" + function + "' of '" + name.source + "' is no function of a C file",
                       "source is the name of a file that ends in .c, function one of C");
    function = name.text();
  }
  return custom(call.b, function, inputs, call.dtype("dtype"), call.dims("shape"),
                call.flag("pure") ? CallKind::Pure : CallKind::Kept);
}

}  // namespace svod
