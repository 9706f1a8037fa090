#include <algorithm>

#include "frontend/distributed_parts.h"

namespace svod::detail {

namespace {

std::vector<Dim> dimsOf(Graph& graph, std::span<const UOp> nodes) {
  std::vector<Dim> dims;
  for (UOp node : nodes) dims.emplace_back(graph, node);
  return dims;
}

std::vector<Dim> scaled(const std::vector<Dim>& cuts, Dim by) {
  std::vector<Dim> out;
  for (const Dim& cut : cuts) out.push_back(cut * by);
  return out;
}

/// Nothing unless all are known multiples.
std::optional<std::vector<Dim>> divided(Graph& graph, const std::vector<Dim>& cuts, const Dim& by) {
  std::vector<Dim> out;
  for (const Dim& cut : cuts) {
    if (!cut.isConst() || !by.isConst() || by.constant() <= 0 || cut.constant() % by.constant() != 0)
      return std::nullopt;
    out.emplace_back(graph, graph.index(cut.constant() / by.constant()));
  }
  return out;
}

/// Where the cuts of an axis are after a reshape: the axis stays, or is the outermost of those that become one, or
/// becomes several, of which the outermost is cut.
std::optional<Layout> reshaped(Graph& graph, const Layout& layout, std::span<const UOp> fromDims,
                               std::span<const UOp> toDims) {
  const std::vector<Dim> from = dimsOf(graph, fromDims), to = dimsOf(graph, toDims);
  const auto axis = static_cast<size_t>(layout.to.axis);
  const Dim one(graph, graph.index(1));
  Dim before = one;
  for (size_t a = 0; a < axis; ++a) before = before * from[a];
  Dim outer = one;
  for (size_t j = 0; j < to.size(); outer = outer * to[j], ++j) {
    if (outer != before) continue;
    Dim inner = one;
    for (size_t a = axis; a < from.size(); ++a) {
      if (a > axis) inner = inner * from[a];
      if (from[axis] * inner == to[j]) return layout.along(static_cast<int>(j), scaled(layout.cuts, inner));
    }
    inner = one;
    for (size_t k = j + 1; k < to.size(); ++k) {
      inner = inner * to[k];
      if (to[j] * inner != from[axis]) continue;
      if (std::optional<std::vector<Dim>> cuts = divided(graph, layout.cuts, inner))
        return layout.along(static_cast<int>(j), std::move(*cuts));
    }
  }
  return std::nullopt;
}

/// Amounts `begin` to `begin` + rank of a Pad or Shrink, at an axis.
Dim amount(Graph& graph, UOp node, size_t begin, int axis) {
  return {graph, node.src(begin + static_cast<size_t>(axis))};
}

bool flips(UOp node, int axis) {
  return std::ranges::find(node.argAs<AxesArg>().axes, axis) != node.argAs<AxesArg>().axes.end();
}

/// Whether a Shrink or Flip leaves the axis as it is, and an Expand does not repeat it.
bool keepsAxis(UOp node, int axis) {
  if (node.op() == Op::Flip) return !flips(node, axis);
  return node.src(0).shape()[static_cast<size_t>(axis)] == node.shape()[static_cast<size_t>(axis)];
}

}  // namespace

std::vector<Dim> evenCuts(Dim extent, int64_t parts) {
  std::vector<Dim> cuts;
  for (int64_t i = 0; i <= parts; ++i) cuts.push_back(floordiv(extent * i, parts));
  return cuts;
}

std::optional<Layout> layoutOfResult(Graph& graph, UOp node, const Layout& operand) {
  if (!operand.isCut()) return operand;
  const int axis = operand.to.axis;
  switch (node.op()) {
    case Op::Reshape: return reshaped(graph, operand, node.src(0).shape(), node.shape());
    case Op::Permute: {
      const std::span<const int32_t> order = node.argAs<AxesArg>().axes;
      return operand.along(static_cast<int>(std::ranges::find(order, axis) - order.begin()), operand.cuts);
    }
    case Op::Pad: {
      const Dim before = amount(graph, node, 2, axis);
      std::vector<Dim> cuts = operand.cuts;
      for (size_t i = 1; i + 1 < cuts.size(); ++i) cuts[i] = cuts[i] + before;
      cuts.back() = Dim(graph, node.shape()[static_cast<size_t>(axis)]);
      return operand.along(axis, std::move(cuts));
    }
    default: return keepsAxis(node, axis) ? std::optional(operand) : std::nullopt;
  }
}

std::optional<Layout> layoutOfOperand(Graph& graph, UOp node, const Layout& result) {
  if (!result.isCut()) return result;
  const int axis = result.to.axis;
  switch (node.op()) {
    case Op::Reshape: return reshaped(graph, result, node.shape(), node.src(0).shape());
    case Op::Permute: return result.along(node.argAs<AxesArg>().axes[static_cast<size_t>(axis)], result.cuts);
    case Op::Expand: return keepsAxis(node, axis) ? result : result.whole();
    case Op::Pad: {
      const bool isKept = amount(graph, node, 2, axis).is(0) && amount(graph, node, 2 + node.rank(), axis).is(0);
      return isKept ? std::optional(result) : std::nullopt;
    }
    default: return keepsAxis(node, axis) ? std::optional(result) : std::nullopt;
  }
}

UOp movedPart(Graph& graph, UOp node, std::vector<UOp> src, const Layout& operand, const Layout& result, size_t i) {
  const auto set = [&](size_t begin, Dim value) { src[begin + static_cast<size_t>(result.to.axis)] = value.node(); };
  if (result.isCut()) {
    const Dim zero(graph, graph.index(0));
    const size_t rank = node.rank();
    if (node.op() == Op::Reshape || node.op() == Op::Expand) set(1, result.size(i));
    if (node.op() == Op::Shrink) set(1, zero), set(1 + rank, result.size(i));
    if (node.op() == Op::Pad && operand.isCut()) {
      if (i > 0) set(2, zero);
      if (i + 1 < result.count()) set(2 + rank, zero);
    }
  }
  return graph.make(node.op(), node.dtype(), src, node.arg());
}

UOp narrowed(Graph& graph, UOp x, int axis, Dim offset, Dim size) {
  std::vector<UOp> offsets(x.rank(), graph.index(0)), sizes(x.shape().begin(), x.shape().end());
  offsets[static_cast<size_t>(axis)] = offset.node(), sizes[static_cast<size_t>(axis)] = size.node();
  return graph.shrink(x, offsets, sizes);
}

// Element p of the axis comes from the first part that reaches beyond p.
UOp joinedParts(Graph& graph, const std::vector<UOp>& parts, int axis) {
  const auto at = static_cast<size_t>(axis);
  const Dim zero(graph, graph.index(0));
  std::vector<Dim> offsets{zero};
  for (UOp part : parts) offsets.push_back(offsets.back() + Dim(graph, part.shape()[at]));
  std::vector<UOp> dims(parts[0].shape().begin(), parts[0].shape().end());
  dims[at] = offsets.back().node();
  std::vector<UOp> ones(dims.size(), graph.index(1));
  ones[at] = dims[at];
  const UOp position = graph.expand(graph.reshape(graph.make(Op::Iota, DType::Index, {dims[at]}), ones), dims);
  const UOp fill = graph.constant(Scalar::of(parts[0].dtype(), 0));
  UOp result;
  for (size_t i = parts.size(); i-- > 0;) {
    std::vector<UOp> before(dims.size(), graph.index(0)), after = before;
    before[at] = offsets[i].node(), after[at] = (offsets.back() - offsets[i + 1]).node();
    const UOp placed = graph.pad(parts[i], fill, before, after);
    if (i + 1 == parts.size()) {
      result = placed;
      continue;
    }
    const UOp isBefore = graph.make(Op::Lt, DType::Bool, {position, offsets[i + 1].node()});
    result = graph.make(Op::Where, placed.dtype(), {isBefore, placed, result});
  }
  return result;
}

}  // namespace svod::detail
