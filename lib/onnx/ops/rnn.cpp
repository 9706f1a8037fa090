// RNN, GRU and LSTM. What the inputs contribute to the gates is one product for all steps. Few steps follow each
// other in the graph, more become a loop of the plan. DynamicQuantizeLSTM multiplies integers: its weights are of 8
// bits, and what they are multiplied with, all inputs or the state of one step, is quantized by its own range.
#include "onnx/ops/common.h"
#include "onnx/ops/rnn_activations.h"
#include "onnx/ops/steps.h"

namespace svod {

Results onnxDynamicQuantize(OnnxNode& n);

namespace {

constexpr std::string_view kQuantized = "com.microsoft::DynamicQuantizeLSTM";

/// Gates of one step, [batch, hidden] each, and what they make of the state.
struct State {
  Tensor h, c;
};

/// Whether every element is zero, as far as the graph says: exporters spell the default state out.
bool isZeros(const Tensor& x) {
  UOp below = x.node();
  while (isMovement(below.op()) && below.op() != Op::Pad) below = below.src(0);
  return below.isConst() && isFloat(below.dtype()) && below.constant().asFloat() == 0;
}

/// One direction of a layer.
class Layer {
 public:
  Layer(OnnxNode& node, Tensor x, int direction, std::span<const Activation> activations, DType wide);
  /// Runs all steps. `outputs`: what they make, [steps, batch, hidden].
  State run(bool isReverse, Tensor& outputs);

 private:
  Tensor fromInputs() const;  // what x contributes to the gates of all steps
  State step(Tensor fromInput, Dim t, Dim time, const State& s, Tensor& output) const;
  State laidOut(Tensor fromInput, bool isReverse, State s, Tensor& outputs) const;
  State inPlan(Tensor fromInput, bool isReverse, const State& s, Tensor& outputs) const;
  Tensor part(int operand) const;  // of this direction, null when omitted
  Tensor gate(Tensor gates, int i) const { return narrow(gates, -1, hidden_ * i, hidden_); }
  Tensor biasPart(int i) const { return gate(bias_, i); }
  Tensor apply(int i, Tensor x) const;
  State next(Tensor fromInput, const State& s) const;
  State nextRnn(Tensor gates) const;
  State nextGru(Tensor fromInput, const State& s) const;
  State nextLstm(Tensor gates, const State& s) const;
  Tensor times(Tensor h, Tensor weights) const { return n_.call("matmul", {h, n_.call("transpose", {weights})}); }
  Tensor weighted(Tensor x, int operand) const;  // x by all weights of operand 1 or 2
  Tensor quantizedProduct(Tensor x, int operand) const;

  OnnxNode& n_;
  Tensor x_;  // [steps, batch, size]
  int direction_;
  std::span<const Activation> activations_;
  DType wide_;
  bool isQuantized_;
  Dim hidden_;
  int64_t gates_;
  Tensor r_, bias_, peepholes_, lengths_;
};

Layer::Layer(OnnxNode& node, Tensor x, int direction, std::span<const Activation> activations, DType wide)
    : n_(node), x_(x), direction_(direction), activations_(activations), wide_(wide),
      isQuantized_(node.op.name == kQuantized) {
  gates_ = n_.op.name == "RNN" ? 1 : n_.op.name == "GRU" ? 3 : 4;
  r_ = part(2);
  bias_ = part(3);
  peepholes_ = part(7);
  hidden_ = r_ ? r_.dim(isQuantized_ ? 0 : -1) : Dim();
  if (n_.has(4)) lengths_ = along(cast(n_.arg(4), DType::I64), 2, 0);
}

Tensor Layer::part(int operand) const {
  if (!n_.has(operand)) return {};
  // With layout=1 initial states have the batch first, like x.
  int axis = n_.flag("layout") && (operand == 5 || operand == 6) ? 1 : 0;
  return squeeze(narrow(cast(n_.arg(operand), wide_), axis, n_.b.dim(direction_), n_.b.dim(1)), axis);
}

// Weights are [size, 4 * hidden], with a scale per direction, or per direction and column; so are zero points.
Tensor Layer::quantizedProduct(Tensor x, int operand) const {
  const int scale = operand == 1 ? 8 : 10;
  auto ofDirection = [&](int i) { return squeeze(narrow(n_.arg(i), 0, n_.b.dim(direction_), n_.b.dim(1)), 0); };
  OnnxNode inner = n_.withArgs({x});
  Results q = onnxDynamicQuantize(inner);
  if (n_.b.failed()) return {};
  Tensor weights = cast(ofDirection(operand), DType::I32);
  if (n_.has(scale + 1)) weights = weights - cast(ofDirection(scale + 1), DType::I32);
  Tensor sum = n_.call("matmul", {cast(q[0], DType::I32) - cast(q[2], DType::I32), weights});
  return cast(sum, DType::F32) * (q[1] * cast(ofDirection(scale), DType::F32));
}

Tensor Layer::weighted(Tensor x, int operand) const {
  if (isQuantized_) return quantizedProduct(x, operand);
  return times(x, operand == 2 ? r_ : part(operand));
}

Tensor Layer::apply(int i, Tensor x) const {
  double clip = n_.number("clip");
  if (clip > 0) x = n_.call("clip", {x}, {{"min", -clip}, {"max", clip}});
  return activated(n_, activations_[static_cast<size_t>(i)], x);
}

State Layer::nextRnn(Tensor gates) const { return {apply(0, gates), {}}; }

State Layer::nextGru(Tensor fromInput, const State& s) const {
  Tensor zrWeights = narrow(r_, 0, n_.b.dim(0), hidden_ * 2), hWeights = narrow(r_, 0, hidden_ * 2, hidden_);
  Tensor zr = narrow(fromInput, -1, n_.b.dim(0), hidden_ * 2) + times(s.h, zrWeights);
  Tensor z = apply(0, gate(zr, 0)), r = apply(0, gate(zr, 1)), candidate = gate(fromInput, 2);
  if (n_.flag("linear_before_reset")) {
    Tensor product = times(s.h, hWeights);
    if (bias_) product = product + biasPart(5);
    candidate = candidate + r * product;
  } else {
    candidate = candidate + times(r * s.h, hWeights);
  }
  candidate = apply(1, candidate);
  return {(1.0 - z) * candidate + z * s.h, {}};
}

State Layer::nextLstm(Tensor gates, const State& s) const {
  auto peeped = [&](int i, int peephole, Tensor c) {
    return peepholes_ ? gate(gates, i) + gate(peepholes_, peephole) * c : gate(gates, i);
  };
  Tensor input = apply(0, peeped(0, 0, s.c));
  Tensor forget = n_.flag("input_forget") ? 1.0 - input : apply(0, peeped(2, 2, s.c));
  Tensor c = forget * s.c + input * apply(1, gate(gates, 3));
  return {apply(0, peeped(1, 1, c)) * apply(2, c), c};
}

State Layer::next(Tensor fromInput, const State& s) const {
  if (gates_ == 3) return nextGru(fromInput, s);
  Tensor gates = fromInput + weighted(s.h, 2);
  return gates_ == 1 ? nextRnn(gates) : nextLstm(gates, s);
}

Tensor Layer::fromInputs() const {
  Tensor fromInput = weighted(x_, 1);
  if (bias_) {
    Tensor sum = narrow(bias_, 0, n_.b.dim(0), hidden_ * gates_) + narrow(bias_, 0, hidden_ * gates_, hidden_ * gates_);
    // The second bias of the candidate of a GRU is reset with the state.
    if (gates_ == 3 && n_.flag("linear_before_reset"))
      sum = n_.call("concat", {narrow(sum, 0, n_.b.dim(0), hidden_ * 2), biasPart(2)});
    fromInput = fromInput + sum;
  }
  return fromInput ? contiguous(fromInput) : Tensor();
}

// Row t of what the inputs contribute. Entries of the batch that have ended at `time` keep their state and make zeros.
State Layer::step(Tensor fromInput, Dim t, Dim time, const State& s, Tensor& output) const {
  State made = next(squeeze(narrow(fromInput, 0, t, n_.b.dim(1)), 0), s);
  output = made.h;
  if (lengths_) {
    Tensor isInside = gt(lengths_, cast(n_.b.value(time), DType::I64));
    output = where(isInside, made.h, 0);
    made.h = where(isInside, made.h, s.h);
    if (made.c) made.c = where(isInside, made.c, s.c);
  }
  return made;
}

State Layer::laidOut(Tensor fromInput, bool isReverse, State s, Tensor& outputs) const {
  int64_t steps = x_.dim(0).constant();
  std::vector<Tensor> all(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps && s.h; ++i) {
    int64_t t = isReverse ? steps - 1 - i : i;
    Tensor& output = all[static_cast<size_t>(t)];
    State made = step(fromInput, n_.b.dim(t), n_.b.dim(t), s, output);
    s = {contiguous(made.h), made.c ? contiguous(made.c) : made.c};
    if (!lengths_) output = s.h;
  }
  outputs = n_.call("stack", all, {{"axis", 0}});
  return s;
}

State Layer::inPlan(Tensor fromInput, bool isReverse, const State& s, Tensor& outputs) const {
  if (isReverse) fromInput = flip(fromInput, {{0}});
  StepLoop loop;
  loop.count = x_.dim(0);
  loop.isBackward = {isReverse};
  std::vector<Tensor> initial = {s.h};
  if (gates_ == 4) initial.push_back(s.c);
  if (!loop.count.isConst() && loop.count.node().bounds().min > 0 && std::ranges::all_of(initial, isZeros))
    loop.folded.assign(initial.size(), n_.b.full({n_.b.dim(1), hidden_}, cast(n_.b.literal(0.0), wide_)));
  auto body = [&](const StepInputs& from) -> std::optional<StepResults> {
    State now{from.state[0], gates_ == 4 ? from.state[1] : Tensor()};
    Tensor output;
    State made = step(fromInput, from.at, isReverse ? loop.count - 1 - from.at : from.at, now, output);
    if (!made.h) return std::nullopt;
    std::vector<Tensor> state = {made.h};
    if (gates_ == 4) state.push_back(made.c);
    return StepResults{Tensor(), state, {output}};
  };
  std::optional<StepTotals> totals = runSteps(n_, loop, initial, body);
  if (!totals) return {};
  outputs = totals->collected[0];
  return {totals->state[0], gates_ == 4 ? totals->state[1] : Tensor()};
}

State Layer::run(bool isReverse, Tensor& outputs) {
  Tensor fromInput = fromInputs();
  if (!fromInput) return {};
  Tensor zero = n_.b.full({x_.dim(1), hidden_}, cast(n_.b.literal(0.0), wide_));
  State s{n_.has(5) ? part(5) : zero, n_.has(6) ? part(6) : zero};
  bool isShort = x_.dim(0).isConst() && x_.dim(0).constant() <= kMostUnrolledSteps;
  return isShort ? laidOut(fromInput, isReverse, s, outputs) : inPlan(fromInput, isReverse, s, outputs);
}

bool checkOperands(OnnxNode& n, int directions, Tensor x) {
  bool ranks = x.rank() == 3 && n.arg(1).rank() == 3 && n.arg(2).rank() == 3;
  if (!n.require(ranks && n.arg(1).dim(0).is(directions) && n.arg(2).dim(0).is(directions),
                 "x, w and r have 3 axes, and w and r an entry for every direction"))
    return false;
  if (n.op.name == kQuantized) {
    for (int i = 8; i < 12; ++i)
      if (n.has(i) && !n.require(n.arg(i).rank() >= 1 && n.arg(i).dim(0).is(directions),
                                 "scales and zero points have an entry for every direction"))
        return false;
    if (!n.require(n.has(8) && n.has(10), "there are scales of w and r")) return false;
  }
  if (!x.dim(0).is(0)) return true;
  n.unsupported("a sequence without steps", "at least one step");
  return false;
}

}  // namespace

Results onnxRecurrent(OnnxNode& n) {
  std::string direction = n.word("direction");
  int directions = direction == "bidirectional" ? 2 : 1;
  if (!n.require(directions == 2 || direction == "forward" || direction == "reverse",
                 "direction is forward, reverse or bidirectional"))
    return Tensor();
  bool isBatchFirst = n.flag("layout");
  auto swapped = [&](Tensor t) { return t && isBatchFirst ? permute(t, {1, 0, 2}) : t; };
  Tensor x = swapped(n.arg(0));
  std::vector<Activation> activations = activationsOf(n, directions);
  if (!x || activations.empty() || !checkOperands(n, directions, x)) return Tensor();
  DType dtype = x.dtype(), wide = sumDType(dtype);
  size_t each = activations.size() / static_cast<size_t>(directions);
  std::vector<Tensor> sequences, lastH, lastC;
  for (int d = 0; d < directions; ++d) {
    Tensor outputs;
    std::span<const Activation> own = std::span(activations).subspan(static_cast<size_t>(d) * each, each);
    State last = Layer(n, cast(x, wide), d, own, wide).run(d == 1 || direction == "reverse", outputs);
    if (!last.h) return Tensor();
    sequences.push_back(outputs);
    lastH.push_back(last.h);
    lastC.push_back(last.c);
  }
  auto stacked = [&](const std::vector<Tensor>& parts, int axis) {
    return cast(n.call("stack", parts, {{"axis", axis}}), dtype);
  };
  // [steps, batch, hidden] of every direction, stacked behind the steps, or behind batch and steps.
  Tensor y;
  if (n.wants(0) && isBatchFirst)
    for (Tensor& s : sequences) s = permute(s, {1, 0, 2});
  if (n.wants(0)) y = stacked(sequences, isBatchFirst ? 2 : 1);
  int at = isBatchFirst ? 1 : 0;
  return std::vector<Tensor>{y, stacked(lastH, at), lastC[0] ? stacked(lastC, at) : Tensor()};
}

}  // namespace svod
