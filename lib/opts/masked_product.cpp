#include "opts/masked_product.h"

#include <algorithm>

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

UOp withMasksInside(Graph& g, UOp sink, std::span<const UOp> terms) {
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    const auto isOfSum = [&](UOp r) { return std::ranges::find(n.src(), r) != n.src().end(); };
    const bool isSum =
        n.op() == Op::Reduce && n.argAs<ReduceArg>().op == Op::Add && std::ranges::any_of(terms, isOfSum);
    if (!isSum || src[0].op() != Op::Where || src[0].src(2) != g.constant(Scalar::of(n.dtype(), 0)))
      return g.withSrc(n, src);
    std::vector<UOp> changed(src.begin(), src.end());
    changed[0] = maskedProduct(g, src[0].src(1), src[0].src(0));
    return g.withSrc(n, changed);
  });
}

}  // namespace svod
