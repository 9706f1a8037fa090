#include "onnx/partly_filled.h"

#include <algorithm>
#include <optional>

namespace svod {

namespace {

/// How much of the result is filled; nothing when the op does not allow it.
using Rule = std::optional<Filled> (*)(OnnxNode& n, const Tensor& result);

struct Row {
  std::string_view op;
  Rule rule;
};

Filled filledOf(OnnxNode& n, int operand) {
  const Filled* filled = n.filled(n.arg(operand));
  return filled ? *filled : Filled(static_cast<size_t>(n.arg(operand).rank()));
}

bool isWhole(const Filled& filled) {
  return std::ranges::none_of(filled, [](const Tensor& t) { return bool(t); });
}

// Operand by operand, aligned at the right. An axis that one operand fills in part is filled to the same count by
// the others, or has one entry in them.
std::optional<Filled> elementwiseRule(OnnxNode& n, const Tensor& result) {
  Filled all(static_cast<size_t>(result.rank()));
  for (size_t axis = 0; axis < all.size(); ++axis) {
    bool hasWhole = false;
    for (int i = 0; i < n.count(); ++i) {
      if (!n.has(i)) continue;
      int own = static_cast<int>(axis) - (result.rank() - n.arg(i).rank());
      if (own < 0 || n.arg(i).dim(own).is(1)) continue;
      Tensor count = filledOf(n, i)[static_cast<size_t>(own)];
      if (!count) hasWhole = true;
      if (count && all[axis] && !(all[axis].node() == count.node())) return std::nullopt;
      if (count) all[axis] = count;
    }
    if (hasWhole && all[axis]) return std::nullopt;
  }
  return all;
}

std::optional<Filled> firstRule(OnnxNode& n, const Tensor&) { return filledOf(n, 0); }

std::optional<Filled> transposeRule(OnnxNode& n, const Tensor& result) {
  Filled from = filledOf(n, 0), all;
  std::vector<int64_t> order = n.integers("perm");
  for (int i = 0; i < result.rank(); ++i)
    all.push_back(from[static_cast<size_t>(order.empty() ? result.rank() - 1 - i : order[static_cast<size_t>(i)])]);
  return all;
}

std::optional<Filled> unsqueezeRule(OnnxNode& n, const Tensor& result) {
  std::vector<int> axes = n.axes(n.integers("axes", 1), result.rank());
  Filled all = filledOf(n, 0);
  std::ranges::sort(axes);
  for (int a : axes) all.insert(all.begin() + a, Tensor());
  return all;
}

std::optional<Filled> squeezeRule(OnnxNode& n, const Tensor&) {
  Filled from = filledOf(n, 0), all;
  std::vector<int> axes = n.axes(n.integers("axes", 1), n.arg(0).rank());
  for (int i = 0; i < n.arg(0).rank(); ++i) {
    bool isDropped = axes.empty() ? n.arg(0).dim(i).is(1) : std::ranges::find(axes, i) != axes.end();
    if (isDropped && from[static_cast<size_t>(i)]) return std::nullopt;
    if (!isDropped) all.push_back(from[static_cast<size_t>(i)]);
  }
  return all;
}

// Positions may be filled in part; the axis they are read from may be as well, unless they count from its end.
std::optional<Filled> gatherRule(OnnxNode& n, const Tensor&) {
  Filled from = filledOf(n, 0), positions = filledOf(n, 1);
  int axis = n.axis(n.integer("axis"), n.arg(0).rank());
  if (axis < 0) return std::nullopt;
  if (from[static_cast<size_t>(axis)]) {
    if (!n.isKnown(1)) return std::nullopt;
    for (int64_t i : n.integers(1))
      if (i < 0) return std::nullopt;
  }
  from.erase(from.begin() + axis);
  from.insert(from.begin() + axis, positions.begin(), positions.end());
  return from;
}

std::optional<Filled> gatherNdRule(OnnxNode& n, const Tensor& result) {
  Filled all = filledOf(n, 1);
  if (all.empty() || all.back() || !isWhole(filledOf(n, 0)) || n.integer("batch_dims") != 0) return std::nullopt;
  all.resize(static_cast<size_t>(result.rank()));
  std::fill(all.begin() + std::min<ptrdiff_t>(n.arg(1).rank() - 1, result.rank()), all.end(), Tensor());
  return all;
}

// Axes that keep their size and that the operand `axes` leaves out.
std::optional<Filled> sliceRule(OnnxNode& n, const Tensor& result) {
  Filled all = filledOf(n, 0);
  std::vector<int> axes = n.axes(n.integers("axes", 3), result.rank());
  if (axes.empty()) return std::nullopt;
  for (int a : axes)
    if (all[static_cast<size_t>(a)]) return std::nullopt;
  return all;
}

constexpr std::string_view kUnary[] = {
    "Abs",   "Acos",     "Acosh",    "Asin",     "Asinh",      "Atan",       "Atanh",   "BitwiseNot", "Cast",
    "Ceil",  "Cos",      "Cosh",     "Elu",      "Erf",        "Exp",        "Floor",   "Gelu",       "HardSigmoid",
    "HardSwish", "Identity", "IsInf", "IsNaN",   "LeakyRelu",  "Log",        "Mish",    "Neg",        "Not",
    "Reciprocal", "Relu", "Round",   "Selu",     "Sigmoid",    "Sign",       "Sin",     "Sinh",       "Softplus",
    "Softsign", "Sqrt",  "Tan",      "Tanh",     "ThresholdedRelu"};
constexpr std::string_view kElementwise[] = {
    "Add",       "And",   "BitShift",       "BitwiseAnd", "BitwiseOr",   "BitwiseXor", "Clip", "Div",
    "Equal",     "Greater", "GreaterOrEqual", "Less",     "LessOrEqual", "Max",        "Mean", "Min",
    "Mod",       "Mul",   "Or",             "PRelu",      "Pow",         "Sub",        "Sum",  "Where",
    "Xor"};
constexpr Row kRows[] = {{"Transpose", transposeRule}, {"Unsqueeze", unsqueezeRule}, {"Squeeze", squeezeRule},
                         {"Gather", gatherRule},       {"GatherND", gatherNdRule},   {"Slice", sliceRule}};

Rule ruleOf(std::string_view op) {
  if (std::ranges::find(kUnary, op) != std::end(kUnary)) return firstRule;
  if (std::ranges::find(kElementwise, op) != std::end(kElementwise)) return elementwiseRule;
  auto row = std::ranges::find(kRows, op, &Row::op);
  return row == std::end(kRows) ? nullptr : row->rule;
}

// The dims of operand 0 as a run fills them.
Tensor shapeAtRun(OnnxNode& n) {
  Filled filled = filledOf(n, 0);
  int rank = n.arg(0).rank();
  auto clipped = [&](int64_t i) { return static_cast<int>(std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank)); };
  int begin = clipped(n.integer("start")), end = n.has("end") ? clipped(n.integer("end")) : rank;
  std::vector<Tensor> sizes;
  for (int i = begin; i < end; ++i) {
    Tensor count = filled[static_cast<size_t>(i)];
    sizes.push_back(count ? count : cast(n.b.value(n.arg(0).dim(i)), DType::I64));
  }
  return sizes.empty() ? n.b.full({n.b.dim(0)}, n.b.constant(Scalar::ofInt(DType::I64, 0)))
                       : n.call("stack", sizes, {{"axis", 0}});
}

}  // namespace

std::vector<Tensor> lowerPartlyFilled(OnnxNode& n, const std::function<std::vector<Tensor>()>& lower) {
  if (n.op.name == "Shape") return {shapeAtRun(n)};
  Rule rule = ruleOf(n.op.name);
  std::vector<Tensor> results;
  if (rule) results = lower();
  if (n.b.failed() || (rule && (results.empty() || !results[0]))) return {};
  std::optional<Filled> filled = rule ? rule(n, results[0]) : std::nullopt;
  if (filled) return {n.withFilled(results[0], std::move(*filled))};
  if (!n.b.failed())
    n.unsupported("an operand whose size only a run can tell",
                  "make it an output, or put elementwise ops, Transpose or Gather in between");
  return {};
}

}  // namespace svod
