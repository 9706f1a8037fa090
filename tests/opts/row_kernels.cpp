// Kernels whose reductions sweep over the rows of a matrix.
#include "opts/kernel_parts.h"
#include "opts/kernels.h"

namespace svod {

UOp buildSoftmax(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k0 = b.loop(s.n, AxisType::Reduce), k1 = b.loop(s.n, AxisType::Reduce);
  UOp largest = b.reduce(Op::Max, b.read(1, {s.m, s.n}, {r0, k0}), {k0});
  auto shifted = [&](UOp at) { return g.alu(Op::Exp, {b.sub(b.read(1, {s.m, s.n}, {r0, at}), largest)}); };
  UOp value = g.alu(Op::Fdiv, {shifted(r1), b.reduce(Op::Add, shifted(k1), {k1})});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), value), {r0, r1})});
}

UOp buildAttention(Graph& g, const Sizes& s) {
  Builder b(g);
  const int64_t keys = s.n + 3;
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), fill = b.loop(keys), score = b.loop(keys), k = b.loop(s.k, AxisType::Reduce),
      k0 = b.loop(keys, AxisType::Reduce), k1 = b.loop(keys, AxisType::Reduce), k2 = b.loop(keys, AxisType::Reduce);
  UOp product = b.mul(b.read(1, {s.m, s.k}, {r0, k}), b.read(2, {keys, s.k}, {score, k}));
  UOp scores = g.fill(b.reduce(Op::Add, product, {k}), {&score, 1}, 0);
  const auto element = [&](UOp fill, UOp at) { return g.load(g.indexInto(fill, {&at, 1})); };
  UOp largest = b.reduce(Op::Max, element(scores, k0), {k0});
  UOp weights = g.fill(g.alu(Op::Exp, {b.sub(element(scores, fill), largest)}), {&fill, 1}, 1);
  UOp sum = b.reduce(Op::Add, element(weights, k1), {k1});
  UOp values = g.alu(Op::Abs, {b.read(3, {keys, s.n}, {k2, r1})});  // nothing cancels, whatever the order of the sum
  UOp result = b.reduce(Op::Add, b.mul(element(weights, k2), values), {k2});
  UOp value = g.alu(Op::Fdiv, {result, sum});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), value), {r0, r1})});
}

}  // namespace svod
