// Normalizations with the sums before them, computed in at least f32.
#include "frontend/lower/common.h"
#include "onnx/ops/channels.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

Tensor wide(Tensor x) { return cast(x, computeDType(x)); }

/// x normalized over its last axes, times gamma plus beta, and what it was shifted and scaled by.
struct Normalized {
  Tensor y, mean, inverse;
};

Normalized normalized(Tensor x, const std::vector<int>& axes, double eps, bool isCentered, Tensor gamma, Tensor beta) {
  Tensor mean = isCentered ? meanOf(x, axes) : Tensor(), distance = mean ? x - mean : x;
  Tensor inverse = recip(sqrt(meanOf(distance * distance, axes) + eps));
  Tensor y = distance * inverse * wide(gamma);
  return {beta ? y + wide(beta) : y, mean, inverse};
}

// Outputs 1 and 2, mean and inverse deviation, have the axes of x, with 1 in place of those that were folded.
Results results(const OnnxNode& n, Tensor x, Tensor total, const Normalized& made) {
  return std::vector<Tensor>{cast(made.y, x.dtype()), made.mean ? cast(made.mean, DType::F32) : Tensor(),
                             cast(made.inverse, DType::F32), n.wants(3) ? cast(total, x.dtype()) : Tensor()};
}

Results skipNorm(OnnxNode& n, bool isCentered, Tensor beta, Tensor bias) {
  Tensor x = n.arg(0), total = wide(x) + wide(n.arg(1));
  if (bias) total = total + wide(bias);
  if (!total || !n.require(total.dims() == x.dims() && x.rank() >= 1, "skip and bias broadcast to x")) return Tensor();
  return results(n, x, total, normalized(total, {x.rank() - 1}, n.number("epsilon"), isCentered, n.arg(2), beta));
}

}  // namespace

// The mean of squares alone: x / sqrt(mean(x^2) + eps) * scale
Results onnxSimplifiedNorm(OnnxNode& n) {
  Tensor x = n.arg(0);
  int axis = n.axis(n.integer("axis"), x.rank());
  DType stash = n.dtype("stash_type");
  if (axis < 0 || n.b.failed()) return Tensor();
  Normalized made = normalized(wide(x), axesFrom(axis, x.rank()), n.number("epsilon"), false, n.arg(1), {});
  return std::vector<Tensor>{cast(made.y, n.arg(1).dtype()), cast(made.inverse, stash)};
}

Results onnxSkipLayerNorm(OnnxNode& n) { return skipNorm(n, true, n.arg(3), n.arg(4)); }
Results onnxSkipSimplifiedNorm(OnnxNode& n) { return skipNorm(n, false, {}, n.arg(3)); }

// Embeddings of words, positions and segments, added and normalized; then how many words the mask keeps, and the sum.
Results onnxEmbedLayerNorm(OnnxNode& n) {
  Tensor ids = n.arg(0);
  if (!n.require(ids.rank() == 2, "input_ids are [batch, length]")) return Tensor();
  auto rows = [&](int table, Tensor at) { return wide(n.call("embedding", {n.arg(table), at})); };
  Tensor positions = n.has(8) ? n.arg(8) : cast(n.b.iota(ids.dim(1)), DType::I64);
  Tensor total = rows(2, ids) + rows(3, positions);
  if (n.has(1) && n.has(4)) total = total + rows(4, n.arg(1));
  if (!total) return Tensor();
  Normalized made = normalized(total, {2}, n.number("epsilon"), true, n.arg(5), n.arg(6));
  DType dtype = n.arg(2).dtype();
  Tensor kept = n.has(7) ? sum(cast(eq(n.arg(7), 1), DType::I32), -1)
                         : n.b.full({ids.dim(0)}, n.b.constant(Scalar::ofInt(DType::I32, 0)));
  return std::vector<Tensor>{cast(made.y, dtype), kept, n.wants(2) ? cast(total, dtype) : Tensor()};
}

// Groups of channels of x + skip + bias; the second output is that sum.
Results onnxSkipGroupNorm(OnnxNode& n) {
  Tensor x = n.arg(0);
  bool isLast = n.flag("channels_last");
  int64_t groups = n.integer("groups"), activation = n.integer("activation");
  if (!n.require(x.rank() >= 3 && groups > 0, "x is [n, sizes.., channels] and has groups") ||
      !n.require(activation == 0 || activation == 1, "'activation' is 0 (none) or 1 (silu)"))
    return Tensor();
  Tensor total = wide(isLast ? channelsSecond(x) : x);
  for (int i : {3, 4}) {
    if (!n.has(i)) continue;
    Tensor t = wide(n.arg(i));
    if (t.rank() > 2 && isLast) t = channelsSecond(t);
    if (t.rank() <= 2)  // [channels] or [n, channels]
      for (int k = 2; t && k < x.rank(); ++k) t = unsqueeze(t, -1);
    total = total + t;
  }
  if (!total) return Tensor();
  Tensor y =
      n.call("group_norm", {total, wide(n.arg(1)), wide(n.arg(2))}, {{"groups", groups}, {"eps", n.number("epsilon")}});
  if (activation == 1) y = n.call("silu", {y});
  auto restored = [&](Tensor t) { return cast(isLast ? channelsLast(t) : t, x.dtype()); };
  return std::vector<Tensor>{restored(y), n.wants(1) ? restored(total) : Tensor()};
}

}  // namespace svod
