#include "opts/masked_product.h"

namespace svod {

namespace {

// A load does not need a choice after it.
UOp maskedFactor(Graph& g, UOp factor, UOp valid) {
  if (factor.op() == Op::Cast) return g.cast(maskedFactor(g, factor.src(0), valid), factor.dtype());
  UOp zero = g.constant(Scalar::of(factor.dtype(), 0));
  if (factor.op() != Op::Load) return g.where(valid, factor, zero);
  if (factor.srcCount() == 1) return g.load(factor.src(0), zero, valid);
  if (factor.src(1) != zero) return g.where(valid, factor, zero);
  return factor.src(2) == valid ? factor : g.load(factor.src(0), zero, g.alu(Op::And, {valid, factor.src(2)}));
}

}  // namespace

UOp maskedProduct(Graph& g, UOp product, UOp valid) {
  if (product.op() == Op::Cast) return g.cast(maskedProduct(g, product.src(0), valid), product.dtype());
  if (product.op() != Op::Mul) return maskedFactor(g, product, valid);
  return g.alu(Op::Mul, {maskedFactor(g, product.src(0), valid), maskedFactor(g, product.src(1), valid)});
}

}  // namespace svod
