// The opt that copies what lies under sliding windows.
#include <algorithm>

#include "ir/shape.h"
#include "optimize/legality.h"
#include "optimize/stage_opts.h"
#include "optimize/strides.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

// One dim of the copy: an axis, or the positions stride * out + tap that two axes reach together.
struct WindowDim {
  UOp axis;                // the tap, or the axis alone
  UOp out = {};            // null: an axis alone
  int64_t stride = 0;

  int64_t extent() const {
    return out ? stride * (maxExtent(out) - 1) + maxExtent(axis) : maxExtent(axis);
  }
  UOp at(Graph& g) const { return out ? addIndices(g, mulIndices(g, out, g.index(stride)), axis) : axis; }
};

// Joins each reduce axis with an output axis that moves the address alike.
std::vector<WindowDim> windowDims(const Access& access, std::span<const Axis> axes) {
  std::vector<WindowDim> dims;
  std::vector<UOp> joined;
  for (const Axis& tap : axes) {
    if (tap.nest != Nest::Reduce) continue;
    std::optional<int64_t> step = strideOf(access, tap.range);
    for (const Axis& out : axes) {
      std::optional<int64_t> stride = strideOf(access, out.range);
      bool alike = out.nest == Nest::Output && step && stride && *step > 0 && *stride > 0 && *stride % *step == 0;
      if (!alike || *stride / *step >= maxExtent(tap.range) || std::ranges::find(joined, out.range) != joined.end())
        continue;
      dims.push_back({tap.range, out.range, *stride / *step});
      joined.push_back(tap.range), joined.push_back(out.range);
      break;
    }
  }
  std::vector<WindowDim> ordered;
  for (const Axis& axis : axes) {
    auto pair = std::ranges::find(dims, axis.range, &WindowDim::axis);
    if (pair != dims.end())
      ordered.push_back(*pair);
    else if (std::ranges::find(joined, axis.range) == joined.end())
      ordered.push_back({axis.range});
  }
  return ordered;
}

}  // namespace

Result<UOp> applyWindow(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& args = std::get<PackArgs>(opt.args);
  std::vector<Axis> axes;
  std::vector<UOp> ranges;
  for (int32_t number : args.axes) {
    SVOD_TRY(Axis axis, pickAxis(sink, number, kOutput | kReduce, {AxisType::Loop, AxisType::Reduce}));
    if (std::ranges::find(ranges, axis.range) != ranges.end())
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " is named twice");
    if (!constExtent(axis.range)) return fail(Diag::BadOpt, "axis " + std::to_string(number) + " has a symbolic extent");
    axes.push_back(axis), ranges.push_back(axis.range);
  }
  SVOD_TRY(UOp load, loadToPack(sink, args.slot, ranges));
  std::vector<WindowDim> dims = windowDims({load, simplify(g, load.src(0).src(1)), args.slot, false}, axes);
  if (std::ranges::none_of(dims, [](const WindowDim& d) { return static_cast<bool>(d.out); }))
    return fail(Diag::BadOpt, "no two of these axes slide over parameter " + std::to_string(args.slot),
                "pack copies an operand without windows");
  uint32_t id = nextRangeId(sink);
  std::vector<UOp> from, to, fresh, back;
  for (const WindowDim& d : dims) {
    UOp range = g.range(g.index(d.extent()), id++, AxisType::Loop);
    if (d.out) from.push_back(d.out), to.push_back(g.index(0));
    from.push_back(d.axis), to.push_back(range);
    fresh.push_back(range), back.push_back(d.at(g));
  }
  UOp value = simplify(g, substitute(g, load, from, to));
  if (simplify(g, substitute(g, value, fresh, back)) != simplify(g, load))
    return fail(Diag::BadOpt, "parameter " + std::to_string(args.slot) + " is read at more than sums of these axes");
  UOp read = g.load(g.indexRowMajor(g.stage(value, fresh, nextBufferSlot(sink)), fresh, back));
  return substitute(g, sink, std::span(&load, 1), std::span(&read, 1));
}

}  // namespace svod
