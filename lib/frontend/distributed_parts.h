// Where the parts of a distributed value are, and how movement carries them along (an internal header of the room).
#pragma once
#include <optional>

#include "frontend/distribute.h"
#include "frontend/tensor.h"

namespace svod::detail {

/// Part i of a cut value is from cuts[i] to cuts[i + 1] of the axis; there are no cuts where each is whole.
struct Layout {
  Distribution to;
  std::vector<Dim> cuts;
  bool isCut() const { return to.axis >= 0; }
  size_t count() const { return to.devices.size(); }
  Dim size(size_t part) const { return cuts[part + 1] - cuts[part]; }
  bool isLike(const Layout& other) const {
    return to.devices == other.to.devices && to.axis == other.to.axis && cuts == other.cuts;
  }
  Layout whole() const { return {{to.devices, -1}, {}}; }
  Layout along(int axis, std::vector<Dim> newCuts) const { return {{to.devices, axis}, std::move(newCuts)}; }
};

/// Where `parts` of an axis begin, and the last one ends: part i is from i * extent // parts on, so they differ by one
/// element at most, and some are empty where there are more of them than elements.
std::vector<Dim> evenCuts(Dim extent, int64_t parts);

/// How the result of a movement op lies when its operand lies so, and the other way round. Nothing: its parts are no
/// movement of those of the other.
std::optional<Layout> layoutOfResult(Graph& graph, UOp movement, const Layout& operand);
std::optional<Layout> layoutOfOperand(Graph& graph, UOp movement, const Layout& result);

/// The movement op of part `i`, whose sources, as those of the whole, are `src`; its result lies so.
UOp movedPart(Graph& graph, UOp movement, std::vector<UOp> src, const Layout& operand, const Layout& result, size_t i);

/// Elements from `offset` on of an axis.
UOp narrowed(Graph& graph, UOp x, int axis, Dim offset, Dim size);
/// Parts side by side along an axis.
UOp joinedParts(Graph& graph, const std::vector<UOp>& parts, int axis);

}  // namespace svod::detail
