#include <algorithm>

#include "interp/bound_math.h"

namespace svod {

namespace {

/// How much larger than a product of a tap and an element what a channel adds to a result of a tile may be between:
/// along an axis, the sum over k of |A^T[i][k]| |G[k]| |B^T[k]|, where i is the last row of four (`fast`), or either of
/// two (`contract`).
constexpr double kTermsOfLargeTile = 48.0 * 48.0, kTermsOfSmallTile = 8.0 * 8.0;
/// Roundings of both transforms.
constexpr double kTileSteps = 32;
/// Below it dot products of bf16 count as 0.
const double kSmallestNormal = std::ldexp(1.0, -126);

double stepsOf(const BoundMath& m, double count) { return m.isFast ? 2 * count : count; }

// `sizes` is the sum of all magnitudes: every order of additions is off by at most count * unit * sizes.
UOp sumBound(BoundMath& m, UOp n, UOp propagated, UOp sizes, double count) {
  const DType d = n.dtype();
  const double least = m.isFast ? std::max(kSmallestNormal, BoundMath::tiny(d)) : BoundMath::tiny(d);
  UOp rounding = m.times(sizes, m.number(BoundMath::growth(d, stepsOf(m, count))));
  UOp e = m.plus(m.plus(propagated, rounding), m.number(2.1 * count * least));
  return m.orInfinity(m.isBelow(m.plus(sizes, e), maxFinite(d) * 0.99), e);
}

// `sizes`: product of magnitudes with their errors; `largest`: no partial product in any order is above it.
UOp productBound(BoundMath& m, UOp n, UOp sizes, UOp largest, double count) {
  const DType d = n.dtype();
  UOp propagated = m.larger(m.g.alu(Op::Sub, {sizes, m.size(n)}), m.number(0));
  UOp rounding = m.times(sizes, m.number(BoundMath::growth(d, stepsOf(m, count))));
  UOp e = m.plus(m.plus(propagated, rounding), m.times(largest, m.number(2.1 * count * BoundMath::tiny(d))));
  return m.orInfinity(m.isBelow(largest, maxFinite(d) * 0.5), e);
}

std::vector<int32_t> axesOf(UOp x) {
  std::vector<int32_t> axes;
  for (size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<int32_t>(i));
  return axes;
}

UOp largestOf(BoundMath& m, UOp e) { return e.isScalar() ? e : m.g.reduce(Op::Max, e, axesOf(e)); }

/// The sum of products under windows of 3 x 3, which may be transformed: what that adds, which depends on the largest
/// operands and not on those of an element.
UOp tileBound(BoundMath& m, UOp n, double count) {
  UOp x = n.src(0);
  int threes = 0;
  for (int32_t axis : n.argAs<ReduceArg>().axes)
    threes += x.shape()[static_cast<size_t>(axis)].bounds().max == 3 ? 1 : 0;
  if (n.dtype() != DType::F32 || threes < 2 || x.op() != Op::Mul) return {};
  UOp term = m.times(largestOf(m, m.size(x.src(0))), largestOf(m, m.size(x.src(1))));
  const double channels = count / 9;
  const double terms = m.isFast ? kTermsOfLargeTile : kTermsOfSmallTile;
  return m.times(term, m.number(channels * terms * BoundMath::growth(n.dtype(), channels + kTileSteps)));
}

/// `fast` takes a factor that all terms share out of the sum: what is left is summed alone.
UOp sharedFactorBound(BoundMath& m, UOp n, UOp e, double count) {
  UOp x = n.src(0);
  if (!m.isFast || x.op() != Op::Mul) return e;
  UOp factors = m.g.reduce(Op::Add, m.full(m.larger(m.size(x.src(0)), m.size(x.src(1))), x), n.argAs<ReduceArg>().axes);
  e = m.plus(e, m.times(factors, m.number(2.1 * count * BoundMath::tiny(n.dtype()))));
  return m.orInfinity(m.isBelow(factors, maxFinite(n.dtype()) * 0.99), e);
}

}  // namespace

UOp reduceBound(BoundMath& m, UOp n, UOp error) {
  const ReduceArg& arg = n.argAs<ReduceArg>();
  UOp x = n.src(0);
  const auto fold = [&](Op op, UOp v) { return m.g.reduce(op, m.full(v, x), arg.axes); };
  if (!isFloat(n.dtype())) return error ? fold(Op::Max, error) : UOp();
  if (arg.op == Op::Max || arg.op == Op::Min) return m.openWhereNaN(n, error ? fold(Op::Max, error) : UOp());
  double count = 1;
  for (int32_t axis : arg.axes) count *= static_cast<double>(x.shape()[static_cast<size_t>(axis)].bounds().max);
  UOp reach = m.plus(m.size(x), error);
  if (arg.op != Op::Add)
    return productBound(m, n, fold(Op::Mul, reach), fold(Op::Mul, m.larger(reach, m.number(1))), count);
  UOp e = sumBound(m, n, error ? fold(Op::Add, error) : UOp(), fold(Op::Add, reach), count);
  e = sharedFactorBound(m, n, e, count);
  UOp tiles = tileBound(m, n, count);
  return tiles ? m.plus(e, m.full(tiles, e)) : e;
}

UOp scatterBound(BoundMath& m, UOp n, std::span<const UOp> errors) {
  const Op op = n.argAs<ReduceArg>().op;
  UOp base = n.src(0), updates = n.src().back(), eb = errors[0], eu = errors.back(), anywhere;
  for (UOp e : errors.subspan(1, errors.size() - 2))
    if (e) anywhere = m.larger(anywhere, largestOf(m, e));  // an index that may differ hits any element
  const auto scatter = [&](Op by, UOp b, UOp u) {
    std::vector<UOp> src(n.src().begin(), n.src().end());
    src[0] = m.full(b, base), src.back() = m.full(u, updates);
    return m.g.make(Op::Scatter, kWideBound, src, ReduceArg{by, {}});
  };
  const auto orAnywhere = [&](UOp e) { return anywhere ? m.plus(e ? e : m.full({}, n), m.full(anywhere, n)) : e; };
  const bool isExact = !eb && !eu;
  if (!isFloat(n.dtype())) return orAnywhere(isExact ? UOp() : scatter(op == Op::Store ? op : Op::Max, eb, eu));
  if (op == Op::Store) return orAnywhere(isExact ? UOp() : scatter(op, eb, eu));
  if (op == Op::Max || op == Op::Min) return orAnywhere(m.openWhereNaN(n, isExact ? UOp() : scatter(Op::Max, eb, eu)));
  const double count = static_cast<double>(updates.maxNumel()) + 1;
  UOp b = m.plus(m.size(base), eb), u = m.plus(m.size(updates), eu), one = m.number(1);
  if (op == Op::Add) return orAnywhere(sumBound(m, n, scatter(op, eb, eu), scatter(op, b, u), count));
  UOp largest = scatter(Op::Mul, m.larger(b, one), m.larger(u, one));
  return orAnywhere(productBound(m, n, scatter(Op::Mul, b, u), largest, count));
}

}  // namespace svod
