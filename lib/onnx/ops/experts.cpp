// Mixtures of experts: every row goes through the experts that a router rates highest.
#include <limits>
#include <string>

#include "onnx/ops/common.h"
#include "onnx/ops/nbits.h"

namespace svod {

namespace {

/// What a node says about its experts.
struct Experts {
  Tensor x;        // [rows, hidden]
  Tensor which;    // [rows, k]
  Tensor weights;  // [rows, k]
};

// Softmax over all experts, of which the k largest count.
std::optional<Experts> routed(OnnxNode& n, DType wide, Tensor mixing) {
  Tensor x = n.arg(0), router = n.arg(1);
  const int64_t k = n.integer("k");
  if (!n.require(x.rank() == 2 || x.rank() == 3, "the input is [rows, hidden] or [batch, sequence, hidden]") ||
      !n.require(router.rank() == 2 && router.dim(1).isConst() && k > 0 && k <= router.dim(1).constant(),
                 "router_probs are [rows, experts], of which there are at least k"))
    return std::nullopt;
  if (n.flag("use_sparse_mixer")) {
    n.unsupported("a sparse mixer", "use_sparse_mixer = 0");
    return std::nullopt;
  }
  Tensor shares = n.call("softmax", {cast(router, wide)}, {{"axis", 1}});
  std::vector<Tensor> best = n.callAll("topk", std::vector{shares}, {{"k", k}, {"axis", 1}});
  if (best.size() < 2) return std::nullopt;
  Experts e{reshape(cast(x, wide), {router.dim(0), x.dim(-1)}), contiguous(best[1]), best[0]};
  if (mixing) e.weights = n.call("gather_elements", {cast(mixing, wide), e.which}, {{"axis", 1}});
  if (n.flag("normalize_routing_weights")) e.weights = e.weights / sum(e.weights, 1, true);
  return e;
}

// What the experts of every row make of x [rows, 1 or k, size]: weights [experts, results, size] and a bias [experts,
// results], which may be null.
Tensor through(const Experts& e, Tensor x, Tensor weights, Tensor bias) {
  Tensor y = sum(unsqueeze(x, 2) * take(weights, 0, e.which), -1);  // [rows, k, results]
  return bias ? y + take(cast(bias, y.dtype()), 0, e.which) : y;
}

// swiglu: a gate, limited, times its sigmoid, times what it lets through.
Tensor gated(OnnxNode& n, Tensor gate, Tensor linear) {
  if (n.has("swiglu_limit")) {
    const double limit = n.number("swiglu_limit");
    gate = min(gate, limit);
    linear = n.call("clip", {linear}, {{"min", -limit}, {"max", limit}});
  }
  return gate * n.call("sigmoid", {gate * n.number("activation_alpha")}) * (linear + n.number("activation_beta"));
}

// The last dim as pairs, or as two halves: one of the two parts.
Tensor partOf(OnnxNode& n, Tensor x, bool isInterleaved, int64_t which) {
  const Dim half = floordiv(x.dim(-1), 2);
  if (!isInterleaved) return narrow(x, -1, half * which, half);
  Dims pairs = x.dims();
  pairs.set(x.rank() - 1, half);
  pairs.add(n.b.dim(2));
  return squeeze(narrow(reshape(x, pairs), -1, n.b.dim(which), n.b.dim(1)), -1);
}

/// The layers of the experts in the dtype that is computed in: [experts, results, size]; third may be null.
struct Layers {
  Tensor first, firstBias, second, secondBias, third, thirdBias;
};

Tensor activated(OnnxNode& n, const Experts& e, const Layers& layers) {
  const std::string name = n.word("activation_type");
  const int64_t fusion = n.integer("swiglu_fusion");
  Tensor x = unsqueeze(e.x, 1), y = through(e, x, layers.first, layers.firstBias);
  if (name == "swiglu") {
    if (fusion == 0) {
      if (!n.require(static_cast<bool>(layers.third), "swiglu that is not fused has fc3")) return {};
      return gated(n, y, through(e, x, layers.third, layers.thirdBias));
    }
    if (!n.require(!layers.third && (fusion == 1 || fusion == 2), "'swiglu_fusion' is 0, 1 or 2; 1 and 2 have no fc3"))
      return {};
    return gated(n, partOf(n, y, fusion == 1, 0), partOf(n, y, fusion == 1, 1));
  }
  if (name == "silu")
    y = n.call("silu", {y});
  else if (name == "relu")
    y = n.call("relu", {y});
  else if (name == "gelu")
    y = n.call("gelu", {y}, {{"approximate", "tanh"}});
  else if (name != "identity")
    return n.unsupported("the activation '" + name + "'", "relu, gelu, silu, swiglu or identity");
  return layers.third ? y * through(e, x, layers.third, layers.thirdBias) : y;
}

Results mixed(OnnxNode& n, const Experts& e, const Layers& layers) {
  if (n.flag("swiglu_limit_after_activation"))
    return n.unsupported("a limit after the activation", "swiglu_limit_after_activation = 0");
  Tensor y = activated(n, e, layers);
  if (!y) return Tensor();
  y = through(e, contiguous(y), layers.second, layers.secondBias);
  return cast(reshape(sum(y * unsqueeze(e.weights, -1), 1), n.arg(0).dims()), n.arg(0).dtype());
}

}  // namespace

Results onnxMoe(OnnxNode& n) {
  const DType wide = sumDType(n.arg(0).dtype());
  const std::optional<Experts> e = routed(n, wide, {});
  if (!e) return Tensor();
  auto weights = [&](int i) { return n.has(i) ? cast(n.arg(i), wide) : Tensor(); };
  return mixed(n, *e, {weights(2), n.arg(3), weights(4), n.arg(5), weights(6), n.arg(7)});
}

namespace {

// Packed weights [experts, results, bytes] as numbers. Scales and zero points are one per result, or one per block of
// it.
Tensor dequantized(OnnxNode& n, int weights, int scales, int zeros, std::string_view ownBits, DType wide) {
  if (!n.has(weights)) return {};
  const int64_t bits = n.has(ownBits) ? n.integer(ownBits) : n.integer("expert_weight_bits"),
                block = n.integer("block_size");
  Tensor elements = unpackedBits(n, n.arg(weights), bits), scale = n.arg(scales);
  if (!n.require(scale && elements.rank() == 3 && scale.rank() == (block > 0 ? 3 : 2),
                 "weights are [experts, results, bytes], and scales one per result, or per block of it"))
    return {};
  // Blocks as an axis of their own: [experts, results, blocks, size of a block].
  const Dim size = elements.dim(2), length = block > 0 ? n.b.dim(block) : size,
            blocks = block > 0 ? floordiv(size, block) : n.b.dim(1);
  const Dims parts{elements.dim(0), elements.dim(1), blocks, length},
      perBlock{elements.dim(0), elements.dim(1), blocks, n.b.dim(1)};
  Tensor zero = cast(n.b.literal(static_cast<double>(int64_t{1} << (bits - 1))), wide);
  if (n.has(zeros)) {
    Tensor listed = unpackedBits(n, n.arg(zeros), bits);
    if (!listed) return {};
    zero = reshape(cast(narrow(listed, -1, n.b.dim(0), block > 0 ? blocks : elements.dim(1)), wide), perBlock);
  }
  Tensor y = (cast(reshape(elements, parts), wide) - zero) * reshape(cast(scale, wide), perBlock);
  return reshape(y, elements.dims());
}

}  // namespace

Results onnxQMoe(OnnxNode& n) {
  if (n.word("quant_type") != "int")
    return n.unsupported("the quantization '" + n.word("quant_type") + "'", "quant_type = int");
  if (n.integer("weights_prepacked") == 1) return n.unsupported("prepacked weights", "weights_prepacked = 0");
  const DType wide = sumDType(n.arg(0).dtype());
  const std::optional<Experts> e = routed(n, wide, n.arg(14));
  if (!e) return Tensor();
  Tensor first = dequantized(n, 2, 3, 11, "fc1_expert_weight_bits", wide),
         second = dequantized(n, 5, 6, 12, "fc2_expert_weight_bits", wide),
         third = dequantized(n, 8, 9, 13, "fc3_expert_weight_bits", wide);
  if (!first || !second) return Tensor();
  return mixed(n, *e, {first, n.arg(4), second, n.arg(7), third, n.arg(10)});
}

}  // namespace svod
