// Scan. Few steps are laid out one after the other, more become a loop of the plan.
#include <algorithm>

#include "onnx/ops/common.h"
#include "onnx/ops/steps.h"

namespace svod {

namespace {

int64_t at(const std::vector<int64_t>& list, size_t i) { return i < list.size() ? list[i] : 0; }

/// One scan: states and sequences, and along which axes and in which direction it goes.
struct ScanNode {
  OnnxNode& n;
  std::vector<Tensor> state, sequences;
  std::vector<int64_t> inputAxes, inputDirections, outputAxes, outputDirections;
  std::vector<int> along;  // inputAxes from the front; once it is known, sequences are turned forward
  Dim count;               // of steps

  bool check();
  /// The states and then the collected outputs; nothing after an error.
  std::vector<Tensor> run();
  std::vector<Tensor> laidOut();
  std::vector<Tensor> inPlan();
  std::vector<Tensor> step(const std::vector<Tensor>& from, Dim i) const;
  bool isBackward(size_t output) const { return at(outputDirections, output) != 0; }
};

bool ScanNode::check() {
  for (size_t i = 0; i < sequences.size(); ++i) {
    along.push_back(n.axis(at(inputAxes, i), sequences[i].rank()));
    if (along.back() < 0) return false;
    Dim size = sequences[i].dim(along.back());
    if (!n.require(!count || count == size, "all sequences have one length")) return false;
    count = size;
    if (at(inputDirections, i) != 0) sequences[i] = flip(sequences[i], {{along.back()}});
  }
  return n.require(static_cast<bool>(count), "there is a sequence");
}

std::vector<Tensor> ScanNode::step(const std::vector<Tensor>& from, Dim i) const {
  std::vector<Tensor> inputs = from;
  for (size_t k = 0; k < sequences.size(); ++k) {
    Dims dims = sequences[k].dims();
    dims.erase(along[k]);
    bool isEmpty = count.is(0);
    inputs.push_back(isEmpty ? n.b.full(dims, cast(n.b.literal(false), sequences[k].dtype()))
                             : squeeze(narrow(sequences[k], along[k], i, n.b.dim(1)), along[k]));
  }
  std::vector<Tensor> made = n.graph("body", inputs);
  bool fits = !made.empty() && !n.b.failed() && n.require(made.size() >= state.size(), "the body gives every state");
  return fits ? made : std::vector<Tensor>();
}

std::vector<Tensor> ScanNode::laidOut() {
  std::vector<std::vector<Tensor>> all;
  std::vector<Tensor> now = state;
  for (int64_t i = 0; i < count.constant(); ++i) {
    std::vector<Tensor> made = step(now, n.b.dim(i));
    if (made.empty()) return {};
    auto others = made.begin() + static_cast<ptrdiff_t>(state.size());
    now.assign(made.begin(), others);
    all.resize(made.size() - state.size());
    for (size_t k = 0; k < all.size(); ++k) all[k].push_back(*(others + static_cast<ptrdiff_t>(k)));
  }
  for (size_t k = 0; k < all.size(); ++k) {
    if (isBackward(k)) std::ranges::reverse(all[k]);
    int axis = n.axis(at(outputAxes, k), all[k][0].rank() + 1);
    if (axis < 0) return {};
    now.push_back(n.call("stack", all[k], {{"axis", axis}}));
  }
  return now;
}

std::vector<Tensor> ScanNode::inPlan() {
  StepLoop steps;
  steps.count = count;
  for (size_t k = 0; k < outputDirections.size(); ++k) steps.isBackward.push_back(isBackward(k));
  auto body = [&](const StepInputs& from) -> std::optional<StepResults> {
    std::vector<Tensor> made = step(from.state, from.at);
    if (made.empty()) return std::nullopt;
    auto others = made.begin() + static_cast<ptrdiff_t>(state.size());
    return StepResults{Tensor(), {made.begin(), others}, {others, made.end()}};
  };
  std::optional<StepTotals> totals = runSteps(n, steps, state, body);
  if (!totals) return {};
  std::vector<Tensor> results = totals->state;
  for (size_t k = 0; k < totals->collected.size(); ++k) {
    Tensor all = totals->collected[k];
    int axis = n.axis(at(outputAxes, k), all.rank());
    if (axis < 0) return {};
    std::vector<int> order = axesFrom(1, all.rank());
    order.insert(order.begin() + axis, 0);
    results.push_back(permute(all, order));
  }
  return results;
}

std::vector<Tensor> ScanNode::run() {
  if (!check()) return {};
  // Without steps there is nothing to lay out, but the body tells the dims of what is collected.
  bool isShort = count.isConst() && count.constant() >= 1 && count.constant() <= kMostUnrolledSteps;
  if (isShort) return laidOut();
  std::vector<Tensor> results;
  if (!count.isConst() || count.constant() > int64_t{kMostUnrolledSteps} * kMostUnrolledSteps) return inPlan();
  if (n.attempt([&] { results = inPlan(); })) return results;
  return laidOut();
}

// The last num_scan_inputs operands are sequences, those before are states; false after an error.
bool divide(OnnxNode& n, int first, std::vector<Tensor>& state, std::vector<Tensor>& sequences) {
  int64_t count = n.integer("num_scan_inputs");
  if (!n.require(count >= 1 && count <= n.count() - first, "num_scan_inputs is the number of sequences")) return false;
  int split = n.count() - static_cast<int>(count);
  for (int i = first; i < n.count(); ++i) {
    if (!n.require(n.has(i), "states and sequences are not omitted")) return false;
    (i < split ? state : sequences).push_back(n.arg(i));
  }
  return true;
}

}  // namespace

Results onnxScan(OnnxNode& n) {
  std::vector<Tensor> state, sequences;
  if (!divide(n, 0, state, sequences)) return Tensor();
  ScanNode scan{n,
                std::move(state),
                std::move(sequences),
                n.integers("scan_input_axes"),
                n.integers("scan_input_directions"),
                n.integers("scan_output_axes"),
                n.integers("scan_output_directions"),
                {},
                {}};
  return scan.run();
}

// Opset 8: every operand has the batch first and the steps second, and each entry of the batch is a scan of
// its own.
Results onnxBatchedScan(OnnxNode& n) {
  constexpr int64_t kMostEntries = 256;
  std::vector<Tensor> state, sequences;
  if (n.has(0)) return n.unsupported("a scan with sequence lengths", "sequences of one length");
  if (!divide(n, 1, state, sequences)) return Tensor();
  Dim batch = sequences[0].dim(0);
  if (!batch || !batch.isConst() || batch.constant() < 1 || batch.constant() > kMostEntries)
    return n.unsupported("a scan with a batch that is empty, symbolic or above 256", "a constant batch, or opset 9");
  std::vector<std::vector<Tensor>> entries;
  for (int64_t i = 0; i < batch.constant(); ++i) {
    auto entry = [&](std::vector<Tensor> all) {
      for (Tensor& t : all) t = squeeze(narrow(t, 0, n.b.dim(i), n.b.dim(1)), 0);
      return all;
    };
    ScanNode scan{n, entry(state), entry(sequences), {}, n.integers("directions"), {}, {}, {}, {}};
    std::vector<Tensor> results = scan.run();
    if (results.empty()) return Tensor();
    entries.resize(results.size());
    for (size_t k = 0; k < results.size(); ++k) entries[k].push_back(results[k]);
  }
  std::vector<Tensor> results;
  for (const std::vector<Tensor>& entry : entries) results.push_back(n.call("stack", entry, {{"axis", 0}}));
  return results;
}

}  // namespace svod
