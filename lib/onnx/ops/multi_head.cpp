// Attention with projections, masks and pasts in the forms of ONNX Runtime.
#include "onnx/ops/append.h"
#include "onnx/ops/common.h"
#include "onnx/ops/heads.h"

namespace svod {

namespace {

/// Queries, keys and values by heads, before the past.
struct Projected {
  Tensor q, k, v;
};

// 0 where a mask lets a key through, `filter` elsewhere: what is added to scores. Masks are lengths [batch], ends and
// starts [2 * batch], or 0 and 1 in [batch, keys] or [batch, queries, keys].
Tensor maskAdded(OnnxNode& n, Tensor mask, Dim batch, Dim keys, double filter) {
  Tensor key = cast(n.b.iota(keys), DType::I64), seen;
  auto column = [&](Dim from) {
    return reshape(cast(narrow(mask, 0, from, batch), DType::I64), {batch, n.b.dim(1), n.b.dim(1), n.b.dim(1)});
  };
  if (mask.rank() == 1 && mask.dim(0) == batch) {
    seen = lt(key, column(n.b.dim(0)));
  } else if (mask.rank() == 1 && mask.dim(0) == batch * 2) {
    seen = both(lt(key, column(n.b.dim(0))), ge(key, column(batch)));
  } else if (mask.rank() == 2 && mask.dim(1) == keys) {
    seen = unsqueeze(unsqueeze(gt(mask, 0), 1), 1);
  } else if (mask.rank() == 3 && mask.dim(2) == keys) {
    seen = unsqueeze(gt(mask, 0), 1);
  } else {
    return n.unsupported("a mask " + describe(mask) + " for " + describe(keys) + " keys",
                         "[batch], [2 * batch], [batch, keys] or [batch, queries, keys]");
  }
  return where(seen, 0.0, filter);
}

// The attributes of attention that concern every form of it; keys are behind a past of `past` keys.
Scoring scoringOf(OnnxNode& n, const Projected& p, Dim past, Tensor mask, Tensor added) {
  Scoring s;
  s.scale = n.number("scale");
  s.added = mask ? maskAdded(n, mask, p.q.dim(0), p.k.dim(2), n.number("mask_filter_value")) : Tensor();
  if (added) s.added = s.added ? s.added + cast(added, DType::F32) : added;
  if (n.flag("unidirectional")) s.visible = causalMask(n, p.q.dim(2), p.k.dim(2), past);
  return s;
}

// x [batch, length, ..] cut into q, k and v of these widths.
Projected splitProjection(OnnxNode& n, Tensor x, Dim wide, Dim wideV) {
  int64_t heads = n.integer("num_heads");
  auto part = [&](Dim from, Dim size) { return withHeads(n, narrow(x, 2, from, size), heads); };
  return {part(n.b.dim(0), wide), part(wide, wide), part(wide * 2, wideV)};
}

// Attention of packed projections; the past is [2, batch, heads, keys, size]. The results of the op.
Results packedAttention(OnnxNode& n, Tensor x, Dim wide, Dim wideV, Tensor mask, Tensor past, Tensor added) {
  if (n.integer("do_rotary") != 0) return n.unsupported("do_rotary", "a RotaryEmbedding of its own");
  if (n.integer("past_present_share_buffer") != 0)
    return n.unsupported("past_present_share_buffer", "a past that is concatenated");
  Projected p = splitProjection(n, x, wide, wideV);
  if (!p.q || !p.k || !p.v) return Tensor();
  Dim before = n.b.dim(0);
  Tensor newest = n.wants(1) || past ? n.call("stack", {p.k, p.v}) : Tensor();
  if (past) {
    if (!n.require(past.rank() == 5, "past is [2, batch, heads, length, size]")) return Tensor();
    before = past.dim(3);
    newest = appended(n, past, newest, 3);
    auto half = [&](int64_t i) { return squeeze(narrow(newest, 0, n.b.dim(i), n.b.dim(1)), 0); };
    p.k = half(0), p.v = half(1);
    if (!p.k || !p.v) return Tensor();
  }
  Tensor y = attend(n, p.q, p.k, p.v, scoringOf(n, p, before, mask, added));
  return std::vector<Tensor>{withoutHeads(y), newest};
}

}  // namespace

Results onnxPackedAttention(OnnxNode& n) {
  Tensor x = n.call("matmul", {n.arg(0), n.arg(1)});
  if (n.has(2)) x = x + n.arg(2);
  if (!x || !n.require(x.rank() == 3, "input is [batch, length, size]")) return Tensor();
  std::vector<int64_t> sizes = n.integers("qkv_hidden_sizes");
  if (!n.require(sizes.empty() || (sizes.size() == 3 && sizes[0] == sizes[1]),
                 "'qkv_hidden_sizes' are three sizes, the first two equal"))
    return Tensor();
  Dim wide = sizes.empty() ? floordiv(x.dim(2), 3) : n.b.dim(sizes[0]);
  Dim wideV = sizes.empty() ? wide : n.b.dim(sizes[2]);
  return packedAttention(n, x, wide, wideV, n.arg(3), n.arg(4), n.arg(5));
}

// The projection is a product of integers; the rest is attention of floats.
Results onnxQAttention(OnnxNode& n) {
  Tensor left = withoutZero(n, n.arg(0), 6, 0), right = withoutZero(n, n.arg(1), 7, 1);
  Tensor sum = n.call("matmul", {left, right});
  if (!sum || !n.require(sum.rank() == 3, "input is [batch, length, size]")) return Tensor();
  Tensor scale = quantParameter(n, 3, 3, 2) * quantParameter(n, 4, 3, 2);
  Tensor x = cast(sum, scale.dtype()) * scale + n.arg(2);
  Dim wide = floordiv(sum.dim(2), 3);
  return packedAttention(n, x, wide, wide, n.arg(5), n.arg(8), {});
}

namespace {

// Operands 0 to 2 in all their forms, with the bias, operand 3, of the projections.
Projected projectedOf(OnnxNode& n) {
  Tensor q = n.arg(0), k = n.arg(1), v = n.arg(2), bias = n.arg(3);
  int64_t heads = n.integer("num_heads");
  auto unpacked = [&](Tensor x, int64_t i) {  // [batch, length, heads, parts, size]
    Tensor one = squeeze(narrow(x, 3, n.b.dim(i), n.b.dim(1)), 3);
    return one ? reshape(one, {x.dim(0), x.dim(1), x.dim(2) * x.dim(4)}) : Tensor();
  };
  if (q.rank() == 5 && !k && !v) k = unpacked(q, 1), v = unpacked(q, 2), q = unpacked(q, 0);
  if (k && k.rank() == 5 && !v) v = unpacked(k, 1), k = unpacked(k, 0);
  if (!n.require(q && k && v && q.rank() == 3, "query, key and value are given, packed or not")) return {};
  Dim at = n.b.dim(0);
  auto biased = [&](Tensor x) {
    if (!bias || x.rank() != 3) return x;  // keys and values that come by heads are ready
    Tensor part = narrow(bias, 0, at, x.dim(2));
    at = at + x.dim(2);
    return x + part;
  };
  q = biased(q), k = biased(k), v = biased(v);
  auto byHeads = [&](Tensor x) { return x && x.rank() == 4 ? x : withHeads(n, x, heads); };
  return {byHeads(q), byHeads(k), byHeads(v)};
}

}  // namespace

Results onnxMultiHeadAttention(OnnxNode& n) {
  Projected p = projectedOf(n);
  if (n.b.failed() || !p.q || !p.k || !p.v) return Tensor();
  Dim past = n.b.dim(0);
  if (n.has(6) && n.has(7)) {
    past = n.arg(6).dim(2);
    p.k = appended(n, n.arg(6), p.k, 2);
    p.v = appended(n, n.arg(7), p.v, 2);
  }
  if (!p.k || !p.v) return Tensor();
  Tensor scores, y = attend(n, p.q, p.k, p.v, scoringOf(n, p, past, n.arg(4), n.arg(5)), &scores);
  return std::vector<Tensor>{withoutHeads(y), p.k, p.v, n.wants(3) ? scores : Tensor()};
}

// Positions are an offset [1] or stand in [batch, length].
Results onnxRotaryCache(OnnxNode& n) {
  Tensor x = n.arg(0), positions = n.arg(1);
  if (n.integer("is_packed_batching") != 0) return n.unsupported("is_packed_batching", "batches of equal lengths");
  int64_t heads = n.integer("num_heads"), turning = n.integer("rotary_embedding_dim");
  Tensor cosine = n.arg(2), sine = n.arg(3);
  if (!n.require(cosine.rank() == 2 && sine.rank() == 2, "cos_cache and sin_cache are [positions, size / 2]"))
    return Tensor();
  Dim size = x.rank() == 4 ? x.dim(3) : heads > 0 ? floordiv(x.dim(2), heads) : cosine.dim(1) * 2;
  Tensor y = x.rank() == 4 ? x : Tensor();
  if (!y &&
      n.require(x.rank() == 3 && size.min() > 0, "x is [batch, length, heads * size] or [batch, heads, length, size]"))
    y = permute(reshape(x, {x.dim(0), x.dim(1), floordiv(x.dim(2), size), size}), {0, 2, 1, 3});
  if (!y) return Tensor();
  if (positions.rank() <= 1) {
    Tensor offset = reshape(positions, {n.b.dim(1), n.b.dim(1)});
    positions = offset + unsqueeze(cast(n.b.iota(y.dim(2)), positions.dtype()), 0);
  }
  y = rotaryTurned(n, y, cosine, sine, positions, turning == 0 ? size : n.b.dim(turning), n.flag("interleaved"));
  if (!y || x.rank() == 4) return y;
  return reshape(permute(y, {0, 2, 1, 3}), x.dims());
}

}  // namespace svod
