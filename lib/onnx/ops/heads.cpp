#include "onnx/ops/heads.h"

#include <cmath>

#include "onnx/ops/common.h"

namespace svod {

Tensor withHeads(OnnxNode& n, Tensor x, int64_t heads) {
  if (!n.require(x.rank() == 3 && heads > 0, "q, k and v are [batch, length, heads * size]") ||
      !n.require(floordiv(x.dim(2), heads) * heads == x.dim(2), "the last dim divides into the heads"))
    return {};
  return permute(reshape(x, {x.dim(0), x.dim(1), n.b.dim(heads), floordiv(x.dim(2), heads)}), {0, 2, 1, 3});
}

Tensor withoutHeads(Tensor x) {
  if (!x) return {};
  return reshape(permute(x, {0, 2, 1, 3}), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

Tensor repeatHeads(OnnxNode& n, Tensor x, Dim heads) {
  if (!x || x.dim(1) == heads) return x;
  Dim count = x.dim(1).min() > 0 ? floordiv(heads, x.dim(1)) : n.b.dim(0);
  if (!n.require(count * x.dim(1) == heads, "the heads of q are a multiple of those of k and v")) return {};
  Tensor spread = expand(unsqueeze(x, 2), {x.dim(0), x.dim(1), count, x.dim(2), x.dim(3)});
  return reshape(spread, {x.dim(0), heads, x.dim(2), x.dim(3)});
}

Tensor rotated(OnnxNode& n, Tensor x, Tensor cosine, Tensor sine, bool isInterleaved) {
  Dim half = floordiv(x.dim(-1), 2);
  Dims pairs = x.dims();
  pairs.set(-1, isInterleaved ? half : n.b.dim(2));
  pairs.add(isInterleaved ? n.b.dim(2) : half);
  int side = isInterleaved ? -1 : -2;
  Tensor split = reshape(x, pairs);
  auto part = [&](int64_t i) { return squeeze(narrow(split, side, n.b.dim(i), n.b.dim(1)), side); };
  Tensor a = part(0), b = part(1);
  return reshape(n.call("stack", {cosine * a - sine * b, sine * a + cosine * b}, {{"axis", side}}), x.dims());
}

Tensor rotaryTurned(OnnxNode& n, Tensor x, Tensor cosines, Tensor sines, Tensor positions, Dim turning,
                    bool isInterleaved) {
  if (!x || !positions) return {};
  const DType dtype = x.dtype(), wide = sumDType(dtype);
  Dim half = floordiv(turning, 2);
  auto angle = [&](Tensor cache) {
    Tensor rows = n.call("gather", {cast(narrow(cache, 1, n.b.dim(0), half), wide), positions}, {{"axis", 0}});
    return unsqueeze(rows, 1);
  };
  Tensor y = cast(
      rotated(n, cast(narrow(x, 3, n.b.dim(0), turning), wide), angle(cosines), angle(sines), isInterleaved), dtype);
  if (turning == x.dim(3) || !y) return y;
  return n.call("concat", {y, narrow(x, 3, turning, x.dim(3) - turning)}, {{"axis", 3}});
}

namespace {

Tensor scaledScores(OnnxNode& n, Tensor q, Tensor k, double scale, DType wide) {
  Tensor scores = n.call("matmul", {q, permute(k, {0, 1, 3, 2})}, {{"dtype", wide}});
  if (scale != 0) return scores * scale;
  if (q.dim(3).isConst()) return scores * (1 / std::sqrt(static_cast<double>(q.dim(3).constant())));
  return scores * recip(sqrt(cast(n.b.value(q.dim(3)), wide)));
}

// The softmax along the last axis, with a sink among the scores.
Tensor weightsOf(OnnxNode& n, Tensor scores, Tensor sink) {
  if (!sink) return n.call("softmax", {scores});
  sink = along(cast(sink, scores.dtype()), 4, 1);
  Tensor top = max(maximum(scores, -1, true), sink), e = exp(scores - top);
  return e / (sum(e, -1, true) + exp(sink - top));
}

}  // namespace

Tensor attend(OnnxNode& n, Tensor q, Tensor k, Tensor v, const Scoring& scoring, Tensor* scores) {
  if (!q || !k || !v ||
      !n.require(n.b.agree(q.dim(3), k.dim(3)) && n.b.agree(k.dim(2), v.dim(2)), "the sizes of q, k and v agree"))
    return {};
  const DType dtype = q.dtype(), wide = sumDType(dtype);
  constexpr double kLowest = -3.4028234663852886e38;
  Tensor all = scaledScores(n, q, repeatHeads(n, k, q.dim(1)), scoring.scale, wide);
  if (scoring.softcap != 0) all = tanh(all * (1 / scoring.softcap)) * scoring.softcap;
  if (scoring.added) all = all + cast(scoring.added, wide);
  if (scoring.visible) all = where(scoring.visible, all, kLowest);
  if (!all) return {};
  if (scores) *scores = cast(all, dtype);
  return cast(n.call("matmul", {weightsOf(n, all, scoring.sink), cast(repeatHeads(n, v, q.dim(1)), wide)}), dtype);
}

Tensor causalMask(OnnxNode& n, Dim queries, Dim keys, Dim offset) {
  auto at = [&](Dim size, int axis) { return along(cast(n.b.iota(size), DType::I64), 2, axis); };
  return le(at(keys, 1), at(queries, 0) + cast(n.b.value(offset), DType::I64));
}

}  // namespace svod
