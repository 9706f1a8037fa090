// Gathers and scatters.
#include "onnx/ops/common.h"

namespace svod {

namespace {

// The greatest element of positions that are counted up from a size; null for others.
Dim greatest(GraphBuilder& b, UOp x, int depth = 0) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) return {};
  auto of = [&](size_t i) { return greatest(b, x.src(i), depth + 1); };
  switch (x.op()) {
    case Op::Const: return isInt(x.dtype()) ? b.dim(x.constInt()) : Dim();
    case Op::Var: return Dim(b.graph(), x);
    case Op::Iota: return Dim(b.graph(), x.src(0)) - 1;
    case Op::Add: return of(0) + of(1);
    case Op::Cast: return isInt(x.dtype()) ? of(0) : Dim();
    case Op::Mul: {
      const Dim times = of(1);
      return times.isConst() && times.constant() >= 0 ? of(0) * times : Dim();
    }
    case Op::Reshape:
    case Op::Expand:
    case Op::Permute:
    case Op::Shrink:
    case Op::Flip:
    case Op::Contiguous: return of(0);
    default: return {};
  }
}

}  // namespace

Results onnxGather(OnnxNode& n) {
  Tensor x = n.arg(0);
  int axis = n.axis(n.integer("axis"), x.rank());
  if (axis < 0) return Tensor();
  // A table with a row per position is as long as the model's longest input.
  if (x.dim(axis).isConst() && n.arg(1) && !n.arg(1).node().isConst())
    if (Dim last = greatest(n.b, n.arg(1).node())) n.prefer(last + 1, x.dim(axis));
  return n.call("gather", {x, n.arg(1)}, {{"axis", axis}});
}

namespace {

// The mode of the scatter ops of graph files; empty after an error.
std::string modeOf(OnnxNode& n) {
  std::string reduction = n.has("reduction") ? n.word("reduction") : "none";
  if (reduction == "none") return "set";
  // Opset 16 defines add and mul alone. Exporters write the others as well, and ONNX Runtime takes them.
  const bool isKnown = reduction == "add" || reduction == "mul" || reduction == "max" || reduction == "min";
  if (!n.require(isKnown, "reduction is none, add, mul, max or min")) return "";
  return reduction;
}

}  // namespace

Results onnxScatterElements(OnnxNode& n) {
  std::string mode = modeOf(n);
  if (mode.empty()) return Tensor();
  return n.call("scatter_elements", n.args(), {{"axis", n.integer("axis")}, {"mode", mode}});
}

Results onnxScatterND(OnnxNode& n) {
  std::string mode = modeOf(n);
  return mode.empty() ? Tensor() : n.call("scatter_nd", n.args(), {{"mode", mode}});
}

// Writes `update` into a cache, for every batch from its own position on.
Results onnxTensorScatter(OnnxNode& n) {
  Tensor cache = n.arg(0), update = n.arg(1), start = n.arg(2);
  std::string mode = n.word("mode");
  int axis = n.axis(n.integer("axis"), cache.rank());
  if (axis < 0 || !n.require(axis > 0, "the axis is not that of the batch") ||
      !n.require(update.rank() == cache.rank(), "cache and update have the same axes") ||
      !n.require(mode == "linear" || mode == "circular", "mode is linear or circular"))
    return Tensor();
  std::vector<Tensor> indices;
  for (int i = 0; i < cache.rank(); ++i) indices.push_back(along(n.b.iota(update.dim(i)), cache.rank(), i));
  Tensor at = cast(indices[static_cast<size_t>(axis)], DType::I64);
  if (start) at = at + along(cast(start, DType::I64), cache.rank(), 0);
  if (mode == "circular") at = floormod(at, cast(n.b.value(cache.dim(axis)), DType::I64));
  indices[static_cast<size_t>(axis)] = at;
  return scatter(Op::Store, cache, indices, update);
}

// values = [off, on]. Positions outside [-depth, depth) are off everywhere.
Results onnxOneHot(OnnxNode& n) {
  Tensor ids = n.arg(0), values = n.arg(2);
  int axis = n.axis(n.integer("axis"), ids.rank() + 1);
  if (axis < 0) return Tensor();
  Dims depth;
  if (std::optional<Dims> declared = n.declaredFor(1)) {
    if (!n.require(declared->rank() == ids.rank() + 1, "the declared result has an axis more than the indices"))
      return Tensor();
    depth.add((*declared)[axis]);
    n.expect({1}, n.arg(1), depth);
  } else if (isInt(n.arg(1).dtype())) {
    depth = n.sizesOrLengths(1);
  } else {
    for (double d : n.numbers(1)) depth.add(n.b.dim(static_cast<int64_t>(d)));
  }
  if (n.b.failed() || !n.require(depth.rank() == 1, "depth is one number") ||
      !n.require(values.rank() == 1 && values.dim(0).is(2), "values are [off, on]"))
    return Tensor();
  if (!isInt(ids.dtype())) ids = cast(ids, DType::I64);
  ids = unsqueeze(wrapNegative(ids, depth[0]), axis);
  Tensor position = along(cast(n.b.iota(depth[0]), DType::I64), n.arg(0).rank() + 1, axis);
  auto pick = [&](int64_t i) { return squeeze(narrow(values, 0, n.b.dim(i), n.b.dim(1)), 0); };
  return where(eq(ids, position), pick(1), pick(0));
}

}  // namespace svod
