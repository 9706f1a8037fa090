// If, Loop and Scan. Conditions and trip counts that are known choose a branch and lay the steps of a loop
// out one after the other. Ops have no side effects, so a branch that only a run can choose is a choice
// between values, and so is whether a loop goes on.
#include <algorithm>

#include "onnx/ops/common.h"

namespace svod {

namespace {

constexpr int64_t kMostSteps = 4096;

bool sameShapes(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) {
    return x && y && x.dims() == y.dims() && x.dtype() == y.dtype();
  });
}

Tensor scalarOf(Tensor x) { return x && x.rank() > 0 ? reshape(x, Dims()) : x; }

// What a condition is known to be; omitted ones hold.
std::optional<bool> knownCondition(OnnxNode& n, Tensor condition) {
  if (!condition) return true;
  std::optional<HostTensor> value = n.valueOf(condition);
  return value && value->numel() == 1 ? std::optional(value->at(0).asInt() != 0) : std::nullopt;
}

}  // namespace

Results onnxIf(OnnxNode& n) {
  std::optional<bool> known = knownCondition(n, n.arg(0));
  if (known) return n.graph(*known ? "then_branch" : "else_branch", {});
  std::vector<Tensor> a = n.graph("then_branch", {});
  if (n.b.failed() || a.empty()) return Tensor();
  std::vector<Tensor> b = n.graph("else_branch", {});
  if (n.b.failed() || b.empty()) return Tensor();
  if (!sameShapes(a, b))
    return n.unsupported("branches with different shapes under a condition that only a run can tell",
                         "a condition made from constants and shapes, or branches of one shape");
  Tensor condition = scalarOf(n.arg(0));
  for (size_t i = 0; i < a.size(); ++i) a[i] = where(condition, a[i], b[i]);
  return a;
}

namespace {

/// The values of all steps of one output, put together along a new axis.
Tensor collected(OnnxNode& n, std::vector<Tensor> steps, int64_t axis, bool isBackward) {
  if (isBackward) std::ranges::reverse(steps);
  int rank = steps[0].rank() + 1;
  int at = n.axis(axis, rank);
  return at < 0 ? Tensor() : n.call("stack", steps, {{"axis", at}});
}

/// An output without steps: the shape of one, and none of them.
Tensor collectedNone(OnnxNode& n, const Tensor& like, int64_t axis) {
  int at = n.axis(axis, like.rank() + 1);
  if (at < 0) return {};
  Dims dims = like.dims();
  dims.insert(at, n.b.dim(0));
  return n.b.full(dims, cast(n.b.literal(false), like.dtype()));
}

}  // namespace

Results onnxLoop(OnnxNode& n) {
  std::vector<Tensor> state(n.args().begin() + std::min(2, n.count()), n.args().end());
  if (n.has(0) && !n.isKnown(0)) {
    n.integers(0);  // says what it depends on
    return Tensor();
  }
  int64_t trips = n.integer("", 0, INT64_MAX);
  Tensor condition = n.arg(1), isActive;
  size_t carried = state.size();
  std::vector<std::vector<Tensor>> collectedSteps;
  std::vector<Tensor> last;
  auto step = [&](int64_t i, Tensor goesOn) {
    std::vector<Tensor> inputs = {n.b.constant(Scalar::ofInt(DType::I64, i)), goesOn};
    inputs.insert(inputs.end(), state.begin(), state.end());
    return n.graph("body", inputs);
  };
  Tensor always = n.b.constant(Scalar::ofInt(DType::Bool, 1));
  for (int64_t i = 0; i < trips; ++i) {
    std::optional<bool> known = knownCondition(n, condition);
    if (known == false) break;
    if (i >= kMostSteps || (!known && trips > kMostSteps))
      return n.unsupported(
          "a loop whose number of steps only a run can tell, or of more than " + std::to_string(kMostSteps),
          "a trip count made from constants and shapes");
    if (!known) isActive = isActive ? isActive * scalarOf(condition) : scalarOf(condition);
    last = step(i, condition ? condition : always);
    if (n.b.failed() || last.size() < carried + 1) return Tensor();
    std::vector<Tensor> made(last.begin() + 1, last.begin() + 1 + static_cast<ptrdiff_t>(carried));
    if (isActive) {
      if (!sameShapes(made, state) || last.size() > carried + 1)
        return n.unsupported("a loop that only a run can end, with values that grow or are collected",
                             "values that keep their shapes, or a condition made from constants and shapes");
      for (size_t k = 0; k < carried; ++k) made[k] = where(isActive, made[k], state[k]);
    }
    collectedSteps.resize(last.size() - 1 - carried);
    for (size_t k = 0; k < collectedSteps.size(); ++k) collectedSteps[k].push_back(last[1 + carried + k]);
    state = std::move(made);
    condition = last[0];
  }
  if (last.empty() && static_cast<size_t>(n.resultCount) > carried) {
    last = step(0, always);  // for the shapes of what is collected
    if (n.b.failed()) return Tensor();
    for (size_t k = carried + 1; k < last.size(); ++k) state.push_back(collectedNone(n, last[k], 0));
  }
  for (const std::vector<Tensor>& steps : collectedSteps) state.push_back(collected(n, steps, 0, false));
  return state;
}

namespace {

int64_t at(const std::vector<int64_t>& list, size_t i) { return i < list.size() ? list[i] : 0; }

struct ScanAxes {
  std::vector<int64_t> inputs, inputDirections, outputs, outputDirections;
};

/// Runs a scan over `sequences`; the states and then the collected outputs.
std::vector<Tensor> scanned(OnnxNode& n, std::vector<Tensor> state, const std::vector<Tensor>& sequences,
                            const ScanAxes& axes) {
  size_t carried = state.size();
  std::vector<int> along;
  Dim steps;
  for (size_t i = 0; i < sequences.size(); ++i) {
    along.push_back(n.axis(at(axes.inputs, i), sequences[i].rank()));
    if (along.back() < 0) return {};
    Dim size = sequences[i].dim(along.back());
    if (!n.require(!steps || steps == size, "all sequences have one length")) return {};
    steps = size;
  }
  if (!steps || !steps.isConst() || steps.constant() > kMostSteps) {
    n.unsupported("a scan over " + (steps ? describe(steps) : std::string("no")) + " steps",
                  "a constant number of at most " + std::to_string(kMostSteps));
    return {};
  }
  std::vector<std::vector<Tensor>> all;
  std::vector<Tensor> last;
  // Without steps, one is imported for its shapes.
  int64_t count = steps.constant();
  for (int64_t i = 0; i < std::max<int64_t>(count, 1); ++i) {
    std::vector<Tensor> inputs = state;
    for (size_t k = 0; k < sequences.size(); ++k) {
      int64_t from = at(axes.inputDirections, k) != 0 ? count - 1 - i : i;
      Dims dims = sequences[k].dims();
      dims.erase(along[k]);
      inputs.push_back(count == 0
                           ? n.b.full(dims, cast(n.b.literal(false), sequences[k].dtype()))
                           : squeeze(narrow(sequences[k], along[k], n.b.dim(from), n.b.dim(1)), along[k]));
    }
    last = n.graph("body", inputs);
    if (n.b.failed() || last.size() < carried) return {};
    if (count == 0) break;
    state.assign(last.begin(), last.begin() + static_cast<ptrdiff_t>(carried));
    all.resize(last.size() - carried);
    for (size_t k = 0; k < all.size(); ++k) all[k].push_back(last[carried + k]);
  }
  for (size_t k = 0; carried + k < last.size(); ++k) {
    int64_t axis = at(axes.outputs, k);
    state.push_back(count == 0 ? collectedNone(n, last[carried + k], axis)
                               : collected(n, all[k], axis, at(axes.outputDirections, k) != 0));
  }
  return state;
}

// The last num_scan_inputs operands are sequences, those before are states; false after an error.
bool divide(OnnxNode& n, int first, std::vector<Tensor>& state, std::vector<Tensor>& sequences) {
  int64_t count = n.integer("num_scan_inputs");
  if (!n.require(count >= 1 && count <= n.count() - first, "num_scan_inputs is the number of sequences"))
    return false;
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
  return scanned(n, std::move(state), sequences,
                 {n.integers("scan_input_axes"), n.integers("scan_input_directions"),
                  n.integers("scan_output_axes"), n.integers("scan_output_directions")});
}

// Opset 8: every operand has the batch first and the steps second, and each entry of the batch is a scan of
// its own.
Results onnxBatchedScan(OnnxNode& n) {
  std::vector<Tensor> state, sequences;
  if (n.has(0)) return n.unsupported("a scan with sequence lengths", "sequences of one length");
  if (!divide(n, 1, state, sequences)) return Tensor();
  Dim batch = sequences[0].dim(0);
  if (!batch || !batch.isConst() || batch.constant() < 1 || batch.constant() > kMostSteps)
    return n.unsupported("a scan with a batch that is empty or symbolic", "a constant batch, or opset 9");
  std::vector<std::vector<Tensor>> entries;
  for (int64_t i = 0; i < batch.constant(); ++i) {
    auto entry = [&](std::vector<Tensor> all) {
      for (Tensor& t : all) t = squeeze(narrow(t, 0, n.b.dim(i), n.b.dim(1)), 0);
      return all;
    };
    std::vector<Tensor> results =
        scanned(n, entry(state), entry(sequences), {{}, n.integers("directions"), {}, {}});
    if (results.empty()) return Tensor();
    entries.resize(results.size());
    for (size_t k = 0; k < results.size(); ++k) entries[k].push_back(results[k]);
  }
  std::vector<Tensor> results;
  for (const std::vector<Tensor>& entry : entries) results.push_back(n.call("stack", entry, {{"axis", 0}}));
  return results;
}

}  // namespace svod
