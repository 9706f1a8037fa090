#include "facts/axes.h"

#include <algorithm>

namespace svod {

namespace {

// The lanes of a warp, and all threads.
bool isDealt(AxisType type) { return type == AxisType::Warp || type == AxisType::Spread; }

bool closes(Op op) { return op == Op::End || op == Op::Reduce || op == Op::Fill; }

std::optional<Nest> nestOf(UOp closer) {
  if (closer.op() == Op::End) return Nest::Output;
  if (closer.op() == Op::Reduce) return Nest::Reduce;
  if (closer.op() == Op::Fill) return Nest::Fill;
  return std::nullopt;
}

uint32_t lowestId(UOp closer) {
  uint32_t lowest = UINT32_MAX;
  for (UOp s : closer.src().subspan(1))
    if (s.op() == Op::Range) lowest = std::min(lowest, s.argAs<AxisArg>().id);
  return lowest;
}

}  // namespace

bool isExpanded(AxisType type) {
  return type == AxisType::Upcast || type == AxisType::Vector || type == AxisType::Unroll || type == AxisType::Dot ||
         type == AxisType::Core;
}

bool isThreadOfGroup(AxisType type) {
  return type == AxisType::Local || type == AxisType::Group || type == AxisType::Warp;
}

std::optional<int64_t> constExtent(UOp range) {
  UOp end = range.src(0);
  return end.isConst() ? std::optional(end.constInt()) : std::nullopt;
}

int64_t maxExtent(UOp range) { return range.src(0).bounds().max; }

std::vector<Axis> axesOf(UOp sink) { return axesOf(toposort(sink)); }

std::vector<Axis> axesOf(std::span<const UOp> nodes) {
  std::vector<UOp> closers;
  for (UOp n : nodes)
    if (closes(n.op())) closers.push_back(n);
  // Sorted by nest, then by lowest id: rewriting one loop may reorder operands, but never the numbers of the
  // others.
  std::stable_sort(closers.begin(), closers.end(), [](UOp a, UOp b) {
    return std::pair(*nestOf(a), lowestId(a)) < std::pair(*nestOf(b), lowestId(b));
  });
  std::vector<Axis> axes;
  for (UOp closer : closers) {
    for (UOp r : closer.src().subspan(1)) {
      if (r.op() != Op::Range || isExpanded(axisType(r)) || isDealt(axisType(r))) continue;
      if (std::ranges::find(axes, r, &Axis::range) == axes.end()) axes.push_back({r, *nestOf(closer)});
    }
  }
  return axes;
}

std::vector<Lanes> lanesOf(UOp sink) { return lanesOf(toposort(sink)); }

std::vector<Lanes> lanesOf(std::span<const UOp> nodes) {
  std::vector<Lanes> lanes;
  for (UOp n : nodes)
    if (n.op() == Op::Range && axisType(n) == AxisType::Vector) lanes.push_back({n, maxExtent(n)});
  return lanes;
}

std::string describeAxes(UOp sink) {
  return describeAxes(sink, [](UOp) { return std::string_view(); });
}

std::string describeAxes(UOp sink, const std::function<std::string_view(UOp)>& nameOf) {
  std::vector<Axis> axes = axesOf(sink);
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i) {
    UOp r = axes[i].range;
    std::string_view type = axes[i].nest == Nest::Fill ? "fill" : toText(axisType(r));
    const std::string name(nameOf(r));
    text += (i ? ", " : "") + std::to_string(i) + " " + (name.empty() ? "" : name + " ") + std::string(type) + " ";
    text += (constExtent(r) ? "" : "<=") + std::to_string(maxExtent(r));
  }
  return text.empty() ? "none" : text;
}

std::vector<UOp> closersOf(UOp sink, UOp range) { return closersOf(toposort(sink), range); }

std::vector<UOp> closersOf(std::span<const UOp> nodes, UOp range) {
  std::vector<UOp> found;
  for (UOp n : nodes) {
    if (!closes(n.op())) continue;
    auto list = n.src().subspan(1);
    if (std::ranges::find(list, range) != list.end()) found.push_back(n);
  }
  return found;
}

}  // namespace svod
