// Reductions, scans and the largest elements.
#include "frontend/lower/select.h"
#include "onnx/ops/common.h"
#include "onnx/ops/expectations.h"

namespace svod {

namespace {

// What stands around a sum: on the elements before, and on the result.
struct Sum {
  std::string_view name;
  enum Before : uint8_t { Same, Magnitude, Square } before;
  enum After : uint8_t { Nothing, Root, Log } after;
};
constexpr Sum kSums[] = {{"ReduceSum", Sum::Same, Sum::Nothing},
                         {"ReduceL1", Sum::Magnitude, Sum::Nothing},
                         {"ReduceL2", Sum::Square, Sum::Root},
                         {"ReduceSumSquare", Sum::Square, Sum::Nothing},
                         {"ReduceLogSum", Sum::Same, Sum::Log}};

struct Fold {
  std::string_view name, graphOp;
};
constexpr Fold kFolds[] = {
    {"ReduceMax", "reduce_max"}, {"ReduceMin", "reduce_min"}, {"ReduceProd", "prod"}, {"ReduceLogSumExp", "logsumexp"}};

// Integers need f64 around roots and logarithms; f16 and the like are rounded once, at the end.
Tensor foldedSum(OnnxNode& n, const Sum& row, Tensor x, const std::vector<int>& axes) {
  bool isInteger = !isFloat(x.dtype());
  DType wide = isInteger && row.after != Sum::Nothing ? DType::F64 : sumDType(x.dtype());
  Tensor y = cast(x, wide);
  if (row.before == Sum::Magnitude) y = abs(y);
  if (row.before == Sum::Square) y = y * y;
  if (!axes.empty()) y = n.call("sum", {y}, {{"axes", listAttribute(axes)}, {"keepdims", n.flag("keepdims")}});
  if (row.after == Sum::Root) y = sqrt(y);
  if (row.after == Sum::Log) y = log(y);
  return cast(y, x.dtype());
}

// Means of integers are rounded toward zero.
Tensor foldedMean(OnnxNode& n, Tensor x, const std::vector<int>& axes) {
  if (axes.empty()) return x;
  Attributes attributes = {{"axes", listAttribute(axes)}, {"keepdims", n.flag("keepdims")}};
  if (isFloat(x.dtype())) return n.call("mean", {x}, attributes);
  Dim count = n.b.dim(1);
  for (int axis : axes) count = count * x.dim(axis);
  return cast(n.call("cdiv", {n.call("sum", {x}, attributes), cast(n.b.value(count), x.dtype())}), x.dtype());
}

// The result of folding these axes; none folds nothing.
Tensor reduced(OnnxNode& n, Tensor x, const std::vector<int>& axes) {
  for (const Sum& row : kSums)
    if (row.name == n.op.name) return foldedSum(n, row, x, axes);
  if (n.op.name == "ReduceMean") return foldedMean(n, x, axes);
  if (axes.empty()) return x;
  for (const Fold& row : kFolds)
    if (row.name == n.op.name)
      return cast(n.call(row.graphOp, {x}, {{"axes", listAttribute(axes)}, {"keepdims", n.flag("keepdims")}}),
                  x.dtype());
  return {};
}

constexpr int kMostRankAtRun = 6;

bool hasAxis(unsigned set, int axis) { return (set >> axis & 1) != 0; }

// The sets of axes, as bits, that give the result these dims.
std::vector<unsigned> axesThatGive(OnnxNode& n, const Dims& have, const Dims& wanted) {
  std::vector<unsigned> all;
  bool keeps = n.flag("keepdims");
  for (unsigned set = 0; set < 1u << have.rank(); ++set) {
    Dims dims;
    bool foldsOne = false;
    for (int i = 0; i < have.rank(); ++i) {
      foldsOne |= hasAxis(set, i) && have[i].is(1);
      if (!hasAxis(set, i) || keeps) dims.add(hasAxis(set, i) ? n.b.dim(1) : have[i]);
    }
    // With keepdims folding a dim of 1 changes nothing.
    if (dims == wanted && !(keeps && foldsOne)) all.push_back(set);
  }
  return all;
}

// Axes that only a run knows: every set that fits the stated result is folded, and the operand chooses.
Tensor reducedAtRun(OnnxNode& n, Tensor x, const Dims& wanted) {
  Tensor result;
  for (unsigned set : axesThatGive(n, x.dims(), wanted)) {
    std::vector<int> folded;
    Tensor isChosen;
    for (int i = 0; i < x.rank(); ++i) {
      if (!hasAxis(set, i)) continue;
      folded.push_back(i);
      Tensor isListed = isListedAtRun(n, 1, i, x.rank());
      isChosen = isChosen ? both(isChosen, isListed) : isListed;
    }
    Tensor part = reduced(n, x, folded);
    result = result && isChosen ? where(isChosen, part, result) : part;
  }
  if (n.require(static_cast<bool>(result), "some axes give the declared shape of the output"))
    expectFolded(n, n.flag("keepdims"), wanted);
  return result;
}

}  // namespace

// No axes are all axes, or none with noop_with_empty_axes; what is done to single elements is done then too.
Results onnxReduce(OnnxNode& n) {
  Tensor x = n.arg(0);
  std::optional<Dims> declared = n.declaredFor(1);
  if (declared && x.rank() <= kMostRankAtRun) return reducedAtRun(n, x, *declared);
  std::vector<int> axes = n.axes(n.integers("axes", 1), x.rank());
  if (n.b.failed()) return Tensor();
  if (axes.empty() && !n.flag("noop_with_empty_axes"))
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  return reduced(n, x, axes);
}

Results onnxArgExtreme(OnnxNode& n) {
  int axis = n.axis(n.integer("axis"), n.arg(0).rank());
  if (axis < 0) return Tensor();
  return n.call(n.op.name == "ArgMax" ? "argmax" : "argmin", {n.arg(0)},
                {{"axis", axis}, {"keepdims", n.flag("keepdims")}, {"last", n.flag("select_last_index")}});
}

// An axis that only a run knows chooses between the results for all of them.
Results onnxCumulative(OnnxNode& n) {
  Tensor x = n.arg(0);
  auto running = [&](int64_t axis) {
    return n.call(n.op.name == "CumSum" ? "cumsum" : "cumprod", {x},
                  {{"axis", axis}, {"exclusive", n.flag("exclusive")}, {"reverse", n.flag("reverse")}});
  };
  if (n.isKnown(1) || x.rank() > kMostRankAtRun) {
    int64_t axis = n.integer("", 1, 0);
    return n.b.failed() ? Tensor() : running(axis);
  }
  Tensor axis = cast(reshape(n.arg(1), Dims()), DType::I64), result;
  for (int i = 0; i < x.rank(); ++i) {
    Tensor isThis = either(eq(axis, i), eq(axis, i - x.rank()));
    result = result ? where(isThis, running(i), result) : running(i);
  }
  return result ? result : x;
}

// Sorted in any case, which sorted=0 allows.
Results onnxTopK(OnnxNode& n) {
  Tensor x = n.arg(0);
  int axis = n.axis(n.integer("axis"), x.rank());
  if (axis < 0) return Tensor();
  Dims k;
  if (std::optional<Dims> declared = n.declaredFor(1); declared && declared->rank() == x.rank()) {
    k.add((*declared)[axis]);
    n.expect({1}, n.arg(1), k);
  } else if (n.has(1) && !n.isKnown(1) && n.hasEntries(1, 1)) {
    Tensor size = cast(n.b.value(x.dim(axis)), DType::I64);
    k.add(n.length(max(min(cast(reshape(n.arg(1), Dims()), DType::I64), size), 0), x.dim(axis)));
    n.expect({1}, n.arg(1), k);
  } else {
    k = n.has(1) ? n.sizes(1) : Dims{n.b.dim(n.integer("k"))};
  }
  if (n.b.failed() || !n.require(k.rank() == 1, "k is one number")) return Tensor();
  n.prefer(k[0], x.dim(axis));
  if (!isSelected(x, axis, k[0])) n.preferShort(x.dim(axis));
  bool isLargest = n.opset < 11 || n.flag("largest");
  return n.callAll("topk", {&x, 1}, {{"k", k[0]}, {"axis", axis}, {"largest", isLargest}});
}

}  // namespace svod
