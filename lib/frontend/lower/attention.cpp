// Scaled dot-product attention and embeddings.
#include <cmath>
#include <limits>

#include "frontend/lower/common.h"

namespace svod {

namespace {

// Heads of k and v that serve several heads of q are repeated: [.., heads, l, d] to [.., heads * count, l,
// d].
Tensor repeatHeads(Tensor x, Dim count) {
  if (count.is(1)) return x;
  Tensor spread = unsqueeze(x, -3);
  if (!spread) return {};
  Dims wide = spread.dims(), joined = x.dims();
  wide.set(-3, count);
  joined.set(-3, x.dim(-3) * count);
  return reshape(expand(spread, wide), joined);
}

Tensor masked(OpCall& call, Tensor scores) {
  constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
  if (call.count() > 3) {
    Tensor mask = call.arg(3);
    scores = mask.dtype() == DType::Bool ? where(mask, scores, kMinusInfinity) : scores + cast(mask, scores.dtype());
  }
  if (!call.flag("causal") || !scores) return scores;
  Tensor query = positionsAlong(call.b, scores.dims(), scores.rank() - 2) + call.b.value(call.dim("offset"));
  Tensor key = positionsAlong(call.b, scores.dims(), scores.rank() - 1);
  return where(le(key, query), scores, kMinusInfinity);
}

}  // namespace

Results lowerAttention(OpCall& call) {
  Tensor q = call.arg(0), k = call.arg(1), v = call.arg(2);
  bool ranksFit = q.rank() >= 2 && q.rank() == k.rank() && q.rank() == v.rank();
  if (!call.require(ranksFit && call.b.agree(q.dim(-1), k.dim(-1)) && call.b.agree(k.dim(-2), v.dim(-2)),
                    "q is [.., l, d], k is [.., s, d] and v is [.., s, e]"))
    return Tensor();
  DType result = commonDType(call.operands.subspan(0, 3)), wide = isFloat(result) ? sumDType(result) : DType::F32;
  if (q.rank() > 2 && q.dim(-3) != k.dim(-3) && !k.dim(-3).is(1)) {
    Dim count = k.dim(-3).min() > 0 ? floordiv(q.dim(-3), k.dim(-3)) : Dim();
    if (!call.require(count && count * k.dim(-3) == q.dim(-3) && k.dim(-3) == v.dim(-3),
                      "the heads of q must be a multiple of those of k and v"))
      return Tensor();
    k = repeatHeads(k, count);
    v = repeatHeads(v, count);
  }
  if (!q.dim(-1).isConst() && !call.has("scale"))
    return call.fail(Diag::BadAttribute, "the size of a head is symbolic", "give scale=..");
  double scale = call.has("scale") ? call.number("scale") : 1 / std::sqrt(static_cast<double>(q.dim(-1).constant()));
  Tensor kT = k;
  std::vector<int> order;
  for (int i = 0; i < k.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  kT = permute(k, order);
  Tensor scores = masked(call, matrixProduct(q, kT, wide) * scale);
  if (!scores) return Tensor();
  Tensor weights = softmaxOf(scores, -1);
  if (v.dtype() == DType::F16 || v.dtype() == DType::BF16) weights = cast(weights, v.dtype());
  return cast(matrixProduct(weights, v, wide), isFloat(result) ? result : DType::F32);
}

Results lowerEmbedding(OpCall& call) {
  Tensor table = call.arg(0);
  if (!call.require(table.rank() >= 1, "the table is [rows, ..]")) return Tensor();
  return take(table, 0, wrapNegative(call.arg(1), table.dim(0)));
}

}  // namespace svod
