#include "onnx/ops/expectations.h"

#include "onnx/ops/common.h"

namespace svod {

namespace {

Tensor entries(OnnxNode& n, int operand) { return cast(n.arg(operand), DType::I64); }
Tensor total(OnnxNode& n, Tensor vector) { return n.call("fold", {vector}); }

// What operand 1 lists, per axis, as a vector of 0 and 1.
Tensor listedAxes(OnnxNode& n, int rank) {
  std::vector<Tensor> all;
  for (int i = 0; i < rank; ++i) all.push_back(cast(isListedAtRun(n, 1, i, rank), DType::I64));
  return n.call("vector", all);
}

// How many are 0 in front of each element of a vector of 0 and 1.
Tensor zerosBefore(OnnxNode& n, Tensor flags) { return n.call("cumsum", {1 - flags}, {{"exclusive", true}}); }

}  // namespace

Tensor isListedAtRun(OnnxNode& n, int operand, int axis, int rank) {
  Tensor axes = entries(n, operand);
  return n.call("any", {either(eq(axes, axis), eq(axes, axis - rank))});
}

void expectReshaped(OnnxNode& n, const Dims& wanted) {
  if (!n.hasEntries(1, wanted.rank())) return;
  Tensor x = n.arg(0), given = entries(n, 1);
  Dims have;
  Dim count = n.b.dim(1);
  for (const Dim& d : x.dims()) count = count * d;
  for (int i = 0; i < wanted.rank(); ++i) have.add(i < x.rank() ? x.dim(i) : n.b.dim(0));
  if (!n.flag("allowzero")) given = where(eq(given, 0), n.sizesTensor(have), given);
  // One -1 is what is left; where nothing fits it stays -1, as do several.
  Tensor isOpen = eq(given, -1), all = cast(n.b.value(count), DType::I64);
  Tensor others = n.call("fold", {where(isOpen, number(n, 1), given)}, {{"with", "mul"}});
  Tensor left = n.call("cdiv", {all, others});
  Tensor fits = both(eq(total(n, cast(isOpen, DType::I64)), 1), eq(left * others, all));
  n.expect({1}, where(both(isOpen, fits), left, given), wanted);
}

// A dim of 1 keeps that of x; missing ones, in front, are 1.
void expectExpanded(OnnxNode& n, const Dims& wanted) {
  Tensor x = n.arg(0), given = entries(n, 1);
  if (!n.hasEntries(1)) return;
  int64_t missing = wanted.rank() - given.dim(0).constant();
  if (missing < 0 || (missing > 0 && x.rank() < wanted.rank())) return n.expect({1}, given, wanted);
  Dims have = x.dims();
  while (have.rank() < wanted.rank()) have.insert(0, n.b.dim(1));
  if (missing > 0) given = pad(given, {n.b.dim(missing)}, {n.b.dim(0)}, 1);
  n.expect({1}, where(eq(given, 1), n.sizesTensor(have), given), wanted);
}

void expectFolded(OnnxNode& n, bool keepsAxes, const Dims& wanted) {
  Tensor x = n.arg(0);
  if (x.rank() == 0 || !n.hasEntries(1)) return;
  Tensor isListed = listedAxes(n, x.rank()), have = n.sizesTensor(x.dims());
  if (keepsAxes) return n.expect({1}, where(eq(isListed, 1), number(n, 1), have), wanted);
  Tensor kept = total(n, 1 - isListed);
  if (wanted.rank() == 0) return n.expect({1}, kept, {n.b.dim(0)});
  // Kept dims move together. When they are not as many as there should be, none of them fits.
  Tensor place = where(eq(isListed, 1), number(n, wanted.rank()), zerosBefore(n, isListed));
  Tensor moved = scatter(Op::Store, n.b.full({n.b.dim(wanted.rank())}, number(n, 0)), {&place, 1}, have);
  n.expect({1}, where(eq(kept, wanted.rank()), moved, number(n, -1)), wanted);
}

void expectUnsqueezed(OnnxNode& n, const Dims& wanted) {
  Tensor x = n.arg(0);
  if (wanted.rank() == 0 || !n.hasEntries(1, wanted.rank() - x.rank())) return;
  Tensor isNew = listedAxes(n, wanted.rank()), source = zerosBefore(n, isNew);
  Tensor have = x.rank() == 0 ? number(n, 0) : gather(n.sizesTensor(x.dims()), {&source, 1});
  n.expect({1}, where(eq(isNew, 1), number(n, 1), have), wanted);
}

Tensor chosenAtRun(OnnxNode& n, std::initializer_list<int> operands, const std::vector<CaseAtRun>& cases) {
  Tensor result, isAny;
  for (const CaseAtRun& c : cases) {
    result = result ? where(c.isMeant, c.result, result) : c.result;
    isAny = isAny ? either(isAny, c.isMeant) : c.isMeant;
  }
  if (!n.b.failed() && n.require(static_cast<bool>(result), "the operands can give the declared dims of the result"))
    n.expect(operands, cast(isAny, DType::I64), {n.b.dim(1)});
  return result;
}

void expectRange(OnnxNode& n, Dim wanted) {
  DType wide = isFloat(n.arg(0).dtype()) ? DType::F64 : DType::I64;
  auto scalar = [&](int i) { return cast(reshape(n.arg(i), Dims()), wide); };
  Tensor start = scalar(0), limit = scalar(1), delta = scalar(2);
  Tensor count = wide == DType::I64 ? -floordiv(start - limit, delta) : cast(ceil((limit - start) / delta), DType::I64);
  n.expect({0, 1, 2}, where(eq(delta, 0), number(n, -1), max(count, 0)), {wanted});
}

}  // namespace svod
