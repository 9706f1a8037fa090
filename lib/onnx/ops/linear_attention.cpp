// Linear attention: a state [batch, heads, key, value] that every step decays, corrects and reads. Few steps are
// laid out one after the other, more become a loop of the plan.
#include <cmath>

#include "onnx/ops/common.h"
#include "onnx/ops/steps.h"

namespace svod {

namespace {

struct LinearAttention {
  OnnxNode& n;
  Tensor q, k, v;
  DType wide;
  Dim heads, queryHeads, batch, keySize, valueSize, group;
  bool decays, corrects;
  double scale;

  /// Step t of x [batch, length, count * size] as [batch, count, size].
  Tensor part(Tensor x, Dim t, Dim count) const;
  /// The state after step t, and what the step reads from it: [batch, heads * group * value].
  Tensor step(Tensor state, Dim t, Tensor& read) const;
  /// All steps: the state, and what they read, [batch, length, ..].
  Tensor laidOut(Tensor state, Tensor& y) const;
  Tensor inPlan(Tensor state, Tensor& y) const;
};

Tensor LinearAttention::part(Tensor x, Dim t, Dim count) const {
  Tensor row = squeeze(narrow(x, 1, t, n.b.dim(1)), 1);
  if (!row) return {};
  return cast(reshape(row, {row.dim(0), count, floordiv(row.dim(1), count)}), wide);
}

Tensor LinearAttention::step(Tensor state, Dim t, Tensor& read) const {
  Tensor key = unsqueeze(part(k, t, heads), -1), value = part(v, t, heads);
  if (decays) state = state * exp(unsqueeze(part(n.arg(4), t, heads), -1));
  if (corrects) {
    Tensor beta = cast(squeeze(narrow(n.arg(5), 1, t, n.b.dim(1)), 1), wide);
    value = unsqueeze(beta, -1) * (value - sum(state * key, 2));
  }
  state = contiguous(state + key * unsqueeze(value, 2));
  Tensor query = part(q, t, queryHeads);
  if (!query || !state) return {};
  query = reshape(query, {batch, heads, group, keySize, n.b.dim(1)});
  read = reshape(sum(unsqueeze(state, 2) * query, 3) * scale, {batch, heads * group * valueSize});
  return state;
}

Tensor LinearAttention::laidOut(Tensor state, Tensor& y) const {
  std::vector<Tensor> outputs(static_cast<size_t>(q.dim(1).constant()));
  for (size_t t = 0; t < outputs.size() && state; ++t)
    state = step(state, n.b.dim(static_cast<int64_t>(t)), outputs[t]);
  y = outputs.empty() ? n.b.full({batch, q.dim(1), heads * group * valueSize}, cast(n.b.literal(0.0), wide))
                      : n.call("stack", outputs, {{"axis", 1}});
  return state;
}

Tensor LinearAttention::inPlan(Tensor state, Tensor& y) const {
  StepLoop loop;
  loop.count = q.dim(1);
  auto body = [&](const StepInputs& from) -> std::optional<StepResults> {
    Tensor read, made = step(from.state[0], from.at, read);
    return made ? std::optional(StepResults{Tensor(), {made}, {read}}) : std::nullopt;
  };
  std::optional<StepTotals> totals = runSteps(n, loop, {state}, body);
  if (!totals) return {};
  y = permute(totals->collected[0], {1, 0, 2});
  return totals->state[0];
}

}  // namespace

Results onnxLinearAttention(OnnxNode& n) {
  Tensor q = n.arg(0), k = n.arg(1), v = n.arg(2);
  int64_t qCount = n.integer("q_num_heads"), count = n.integer("kv_num_heads");
  std::string rule = n.word("update_rule");
  bool decays = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  if (!n.require(q.rank() == 3 && k.rank() == 3 && v.rank() == 3, "query, key and value have 3 axes") ||
      !n.require(count > 0 && qCount > 0 && qCount % count == 0, "q_num_heads is a multiple of kv_num_heads") ||
      !n.require(decays || corrects || rule == "linear", "update_rule is linear, gated, delta or gated_delta") ||
      !n.require(!decays || n.has(4), "the rule needs decay") ||
      !n.require(!corrects || n.has(5), "the rule needs beta"))
    return Tensor();
  DType dtype = q.dtype(), wide = sumDType(dtype);
  Dim heads = n.b.dim(count), batch = q.dim(0);
  Dim keySize = floordiv(k.dim(2), count), valueSize = floordiv(v.dim(2), count);
  Tensor state =
      n.has(3) ? cast(n.arg(3), wide) : n.b.full({batch, heads, keySize, valueSize}, cast(n.b.literal(0.0), wide));
  double scale = n.number("scale");
  if (scale == 0 && !n.require(keySize.isConst(), "the size of a head is constant, or scale is given")) return Tensor();
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(keySize.constant()));
  LinearAttention attention{
      n,      q,        k,    v, wide, heads, n.b.dim(qCount), batch, keySize, valueSize, n.b.dim(qCount / count),
      decays, corrects, scale};
  bool isShort = q.dim(1).isConst() && q.dim(1).constant() <= kMostUnrolledSteps;
  Tensor y;
  state = isShort ? attention.laidOut(state, y) : attention.inPlan(state, y);
  return std::vector<Tensor>{cast(y, dtype), cast(state, dtype)};
}

}  // namespace svod
