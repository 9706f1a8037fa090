// Attention over keys and values that may continue a past, with masks, caps and hooks around the softmax.
#include <cmath>
#include <limits>

#include "onnx/ops/append.h"
#include "onnx/ops/common.h"
#include "onnx/ops/heads.h"

namespace svod {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// [batch, length, heads * size] as [batch, heads, length, size]; with four axes as it is.
Tensor splitHeads(OnnxNode& n, Tensor x, std::string_view heads) {
  if (x.rank() == 4) return x;
  int64_t count = n.integer(heads);
  if (!n.require(x.rank() == 3 && count > 0, "q, k and v have 4 axes, or 3 and numbers of heads")) return {};
  return withHeads(n, x, count);
}

Tensor transposed(Tensor x) { return permute(x, {0, 1, 3, 2}); }

// What scores and probabilities are computed in.
DType precisionOf(OnnxNode& n, DType dtype) {
  DType wide = isFloat(dtype) ? sumDType(dtype) : DType::F32;
  if (!n.has("softmax_precision")) return wide;
  DType asked = n.dtype("softmax_precision");
  return isFloat(asked) ? promote(wide, asked) : wide;
}

// Scores q k^T * scale, where scale is 1 / sqrt(size of a head) unless it is given.
Tensor scoresOf(OnnxNode& n, Tensor q, Tensor k, DType wide) {
  Tensor scores = n.call("matmul", {q, transposed(k)}, {{"dtype", wide}});
  if (n.has("scale")) return scores * n.number("scale");
  if (q && q.dim(-1).isConst()) return scores * (1 / std::sqrt(static_cast<double>(q.dim(-1).constant())));
  return q ? scores * recip(sqrt(cast(n.b.value(q.dim(-1)), wide))) : Tensor();
}

// Softmax along the last axis; rows of -infinity become zeros.
Tensor safeSoftmax(Tensor scores) {
  Tensor top = maximum(scores, -1, true);
  Tensor e = exp(scores - where(eq(top, kMinusInfinity), 0, top));
  Tensor total = sum(e, -1, true);
  return e / where(eq(total, 0), 1, total);
}

// What is added to scores of this shape: the mask, shorter ones hiding the rest, and later keys when causal.
class Bias {
 public:
  Bias(OnnxNode& node, const Dims& scores, Dim pastLength, DType wide)
      : n_(node), scores_(scores), past_(pastLength), wide_(wide) {}

  bool isEmpty() const { return !n_.has(3) && !n_.flag("is_causal") && !n_.has(6); }
  Tensor applied(Tensor scores) const {
    if (n_.has(3)) scores = scores + masked();
    Tensor key = positions(3);
    if (n_.flag("is_causal")) scores = where(le(key, positions(2) + offset()), scores, kMinusInfinity);
    if (n_.has(6)) scores = where(lt(key, lengths()), scores, kMinusInfinity);
    return scores;
  }

 private:
  Tensor positions(int axis) const { return along(cast(n_.b.iota(scores_[axis]), DType::I64), 4, axis); }
  Tensor lengths() const { return along(cast(n_.arg(6), DType::I64), 4, 0); }
  // The position of the first query among the keys.
  Tensor offset() const {
    if (n_.has(6) && !n_.has(4)) return lengths() - cast(n_.b.value(scores_[2]), DType::I64);
    return cast(n_.b.value(past_), DType::I64);
  }
  Tensor masked() const {
    Tensor mask = n_.arg(3);
    mask = mask.dtype() == DType::Bool
               ? where(mask, cast(n_.b.literal(0.0), wide_), cast(n_.b.literal(kMinusInfinity), wide_))
               : cast(mask, wide_);
    if (!mask || mask.rank() == 0 || mask.dim(-1) == scores_[3] || mask.dim(-1).is(1)) return mask;
    Dims before, after;
    for (int i = 0; i < mask.rank(); ++i) before.add(n_.b.dim(0)), after.add(n_.b.dim(0));
    after.set(-1, scores_[3] - mask.dim(-1));
    return pad(mask, before, after, cast(n_.b.literal(kMinusInfinity), wide_));
  }

  OnnxNode& n_;
  Dims scores_;
  Dim past_;
  DType wide_;
};

// Keys or values with those of operand i before them.
Tensor withPast(OnnxNode& n, int i, Tensor x) {
  if (!n.has(i) || !x) return x;
  if (!n.require(n.arg(i).rank() == 4, "the past has 4 axes")) return {};
  return appended(n, n.arg(i), x, 2);
}

}  // namespace

// Outputs: the result, keys and values with their past, and scores: plain (mode 0), capped (1), with bias (2)
// or as probabilities (3).
Results onnxAttention(OnnxNode& n) {
  Tensor q = splitHeads(n, n.arg(0), "q_num_heads"), k = splitHeads(n, n.arg(1), "kv_num_heads"),
         v = splitHeads(n, n.arg(2), "kv_num_heads");
  if (n.b.failed()) return Tensor();
  Dim pastLength = n.has(4) ? n.arg(4).dim(2) : n.b.dim(0);
  k = withPast(n, 4, k);
  v = withPast(n, 5, v);
  if (!k || !v ||
      !n.require(n.b.agree(q.dim(3), k.dim(3)) && n.b.agree(k.dim(2), v.dim(2)), "the sizes of q, k and v agree"))
    return Tensor();
  int64_t mode = n.integer("qk_matmul_output_mode");
  if (!n.require(mode >= 0 && mode <= 3, "qk_matmul_output_mode is 0 to 3")) return Tensor();
  DType dtype = n.arg(0).dtype(), wide = precisionOf(n, dtype);
  Tensor scores = scoresOf(n, q, repeatHeads(n, k, q.dim(1)), wide);
  if (!scores) return Tensor();
  Tensor scoresAt[4] = {scores};
  double cap = n.number("softcap");
  scoresAt[1] = cap == 0 ? scores : tanh(scores * (1 / cap)) * cap;
  Bias bias(n, scores.dims(), pastLength, wide);
  scoresAt[2] = bias.isEmpty() ? scoresAt[1] : bias.applied(scoresAt[1]);
  scoresAt[3] = bias.isEmpty() ? n.call("softmax", {scoresAt[2]}) : safeSoftmax(scoresAt[2]);
  Tensor weights = cast(scoresAt[3], dtype);  // the standard rounds them to the dtype of q
  Tensor y = cast(n.call("matmul", {weights, repeatHeads(n, v, q.dim(1))}, {{"dtype", wide}}), dtype);
  if (n.arg(0).rank() == 3 && y) y = reshape(permute(y, {0, 2, 1, 3}), {y.dim(0), y.dim(2), y.dim(1) * y.dim(3)});
  return std::vector<Tensor>{y, k, v, n.wants(3) ? cast(scoresAt[mode], dtype) : Tensor()};
}

// The graphs score_mod and prob_mod see scores and probabilities in the precision of the softmax.
Results onnxFlexAttention(OnnxNode& n) {
  Tensor q = n.arg(0), k = n.arg(1), v = n.arg(2);
  if (!n.require(q.rank() == 4 && k.rank() == 4 && v.rank() == 4, "q, k and v have 4 axes") ||
      !n.require(n.b.agree(q.dim(3), k.dim(3)) && n.b.agree(k.dim(2), v.dim(2)), "the sizes of q, k and v agree"))
    return Tensor();
  DType dtype = q.dtype(), wide = precisionOf(n, dtype);
  DType seen = n.has("softmax_precision") ? n.dtype("softmax_precision") : dtype == DType::F64 ? dtype : DType::F32;
  auto modified = [&](std::string_view attribute, Tensor x) {
    if (!x || !n.has(attribute)) return x;
    x = cast(x, seen);
    std::vector<Tensor> all = n.graph(attribute, {&x, 1});
    if (n.b.failed() || all.empty() ||
        !n.require(all.size() == 1 && all[0].dims() == x.dims(), "the graph keeps the shape"))
      return Tensor();
    return cast(all[0], wide);
  };
  Tensor scores = modified("score_mod", scoresOf(n, q, repeatHeads(n, k, q.dim(1)), wide));
  Tensor weights = modified("prob_mod", scores ? safeSoftmax(scores) : scores);
  if (!weights) return Tensor();
  return cast(n.call("matmul", {weights, cast(repeatHeads(n, v, q.dim(1)), wide)}), dtype);
}

// x is [batch, heads, length, size] or [batch, length, heads * size]; the first rotary_embedding_dim elements
// of a head turn.
Results onnxRotaryEmbedding(OnnxNode& n) {
  Tensor x = splitHeads(n, n.arg(0), "num_heads");
  if (!x) return Tensor();
  DType wide = sumDType(x.dtype());
  Dim turning = n.integer("rotary_embedding_dim") == 0 ? x.dim(3) : n.b.dim(n.integer("rotary_embedding_dim"));
  auto angle = [&](int i) {
    Tensor table = cast(n.arg(i), wide);
    if (n.has(3)) table = n.call("gather", {table, n.arg(3)}, {{"axis", 0}});
    if (!n.require(table && table.rank() == 3, "cos and sin are [positions, size], or [batch, length, size]"))
      return Tensor();
    return unsqueeze(narrow(table, 2, n.b.dim(0), floordiv(turning, 2)), 1);
  };
  Tensor cosine = angle(1), sine = angle(2);
  Tensor turned = rotated(n, cast(narrow(x, 3, n.b.dim(0), turning), wide), cosine, sine, n.flag("interleaved"));
  turned = cast(turned, x.dtype());
  if (turned && turning != x.dim(3))
    turned = n.call("concat", {turned, narrow(x, 3, turning, x.dim(3) - turning)}, {{"axis", 3}});
  if (!turned || n.arg(0).rank() == 4) return turned;
  return reshape(permute(turned, {0, 2, 1, 3}), n.arg(0).dims());
}

}  // namespace svod
