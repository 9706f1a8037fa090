// Linear attention: a state [batch, heads, key, value] that every step decays, corrects and reads. Steps are
// laid out one after the other.
#include <cmath>

#include "onnx/ops/common.h"

namespace svod {

namespace {

constexpr int64_t kMostSteps = 512;

// One step of x [batch, length, heads * size] as [batch, heads, size].
Tensor step(OnnxNode& n, Tensor x, int64_t t, Dim heads, DType wide) {
  Tensor row = squeeze(narrow(x, 1, n.b.dim(t), n.b.dim(1)), 1);
  if (!row) return {};
  return cast(reshape(row, {row.dim(0), heads, floordiv(row.dim(1), heads)}), wide);
}

}  // namespace

Results onnxLinearAttention(OnnxNode& n) {
  Tensor q = n.arg(0), k = n.arg(1), v = n.arg(2);
  int64_t qCount = n.integer("q_num_heads"), count = n.integer("kv_num_heads");
  std::string rule = n.word("update_rule");
  bool decays = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  if (!n.require(q.rank() == 3 && k.rank() == 3 && v.rank() == 3, "query, key and value have 3 axes") ||
      !n.require(count > 0 && qCount > 0 && qCount % count == 0,
                 "q_num_heads is a multiple of kv_num_heads") ||
      !n.require(decays || corrects || rule == "linear",
                 "update_rule is linear, gated, delta or gated_delta") ||
      !n.require(!decays || n.has(4), "the rule needs decay") ||
      !n.require(!corrects || n.has(5), "the rule needs beta"))
    return Tensor();
  if (!q.dim(1).isConst() || q.dim(1).constant() > kMostSteps)
    return n.unsupported("linear attention over " + describe(q.dim(1)) + " steps",
                         "a constant length of at most " + std::to_string(kMostSteps));
  DType dtype = q.dtype(), wide = sumDType(dtype);
  Dim heads = n.b.dim(count), batch = q.dim(0);
  Dim keySize = floordiv(k.dim(2), count), valueSize = floordiv(v.dim(2), count),
      group = n.b.dim(qCount / count);
  Tensor state = n.has(3) ? cast(n.arg(3), wide)
                          : n.b.full({batch, heads, keySize, valueSize}, cast(n.b.literal(0.0), wide));
  double scale = n.number("scale");
  if (scale == 0 && !n.require(keySize.isConst(), "the size of a head is constant, or scale is given"))
    return Tensor();
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(keySize.constant()));
  std::vector<Tensor> outputs;
  for (int64_t t = 0; t < q.dim(1).constant() && state; ++t) {
    Tensor key = unsqueeze(step(n, k, t, heads, wide), -1), value = step(n, v, t, heads, wide);
    if (decays) state = state * exp(unsqueeze(step(n, n.arg(4), t, heads, wide), -1));
    if (corrects) {
      Tensor beta = cast(squeeze(narrow(n.arg(5), 1, n.b.dim(t), n.b.dim(1)), 1), wide);
      value = unsqueeze(beta, -1) * (value - sum(state * key, 2));
    }
    state = contiguous(state + key * unsqueeze(value, 2));
    Tensor query = step(n, q, t, n.b.dim(qCount), wide);
    if (!query || !state) return Tensor();
    query = reshape(query, {batch, heads, group, keySize, n.b.dim(1)});
    Tensor read = sum(unsqueeze(state, 2) * query, 3) * scale;
    outputs.push_back(reshape(read, {batch, heads * group * valueSize}));
  }
  Tensor y = outputs.empty() ? n.b.full({batch, q.dim(1), heads * group * valueSize}, n.b.literal(0.0))
                             : n.call("stack", outputs, {{"axis", 1}});
  return std::vector<Tensor>{cast(y, dtype), cast(state, dtype)};
}

}  // namespace svod
