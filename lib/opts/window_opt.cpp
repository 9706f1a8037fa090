// The opt that copies what lies under sliding windows.
#include <algorithm>
#include <optional>

#include "facts/accesses.h"
#include "ir/shape.h"
#include "opts/legality.h"
#include "opts/local_buffer_opts.h"
#include "opts/local_copy.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

// One dim of the copy: an axis, or the positions stride * out + dilation * tap that two axes reach together. One of
// both factors is 1.
struct WindowDim {
  UOp axis;      // the tap, or the axis alone
  UOp out = {};  // null: an axis alone
  int64_t stride = 1, dilation = 1;

  int64_t positions() const {
    return out ? stride * (maxExtent(out) - 1) + dilation * (maxExtent(axis) - 1) + 1 : maxExtent(axis);
  }
};

// The dims of the copy. Positions that are `stride` apart lie side by side, so that neighbouring results read
// neighbours: position p is at (p % stride, p / stride), and the phases p % stride come before all positions.
class WindowCopy {
 public:
  WindowCopy(Graph& g, UOp sink, std::string name) : g_(g), name_(std::move(name)), id_(nextRangeId(sink)) {}

  void add(const WindowDim& d) {
    const UOp step = g_.index(d.stride), tap = mulIndices(g_, d.axis, g_.index(d.dilation));
    const int64_t length = (d.positions() + d.stride - 1) / d.stride;
    UOp range = g_.range(g_.index(length), id_++, AxisType::Loop), position = range;
    made_.push_back({MadeLoop::How::Copy, range, {d.axis}, name_});
    UOp place = d.out ? addIndices(g_, d.out, g_.alu(Op::Floordiv, {tap, step})) : tap;
    if (d.stride > 1) {
      UOp phase = g_.range(step, id_++, AxisType::Loop);
      made_.push_back({MadeLoop::How::Copy, phase, {d.axis}, name_ + ".s"});
      position = addIndices(g_, mulIndices(g_, range, step), phase);
      phases_.push_back({phase, g_.alu(Op::Floormod, {tap, step})});
      if (length * d.stride > d.positions()) inside_.push_back(g_.alu(Op::Lt, {position, g_.index(d.positions())}));
    }
    if (d.out && !firstWindow_) firstWindow_ = dims_.size();
    dims_.push_back({range, place});
    const UOp unit = d.dilation > 1 ? d.out : d.axis;  // moves by one position
    from_.push_back(unit), to_.push_back(position);
    if (d.out) from_.push_back(unit == d.out ? d.axis : d.out), to_.push_back(g_.index(0));
  }

  const std::vector<MadeLoop>& made() const { return made_; }

  /// What reads the copy in place of `load`. Null: that is no function of these dims.
  UOp readInPlaceOf(UOp load, UOp sink) {
    std::vector<Dim> dims = dims_;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(firstWindow_.value_or(0)), phases_.begin(), phases_.end());
    std::vector<UOp> ranges, places;
    for (const Dim& d : dims) ranges.push_back(d.range), places.push_back(d.place);
    UOp value = substitute(g_, guarded(load), from_, to_);
    UOp again = simplify(g_, substitute(g_, value, ranges, places));
    if (again.op() == Op::Load && again.srcCount() == 3 && again.src(2) == g_.boolean(true))
      again = g_.load(again.src(0));
    if (again != simplify(g_, load)) return {};
    return g_.load(g_.indexRowMajor(g_.fill(simplify(g_, value), ranges, nextBufferSlot(sink)), ranges, places));
  }

 private:
  struct Dim {
    UOp range, place;  // the loop of the copy, and where a reader of the copy is along it
  };

  // A last phase may have one position less than the first.
  UOp guarded(UOp load) {
    if (inside_.empty()) return load;
    UOp gate = load.srcCount() > 2 ? load.src(2) : UOp();
    for (UOp condition : inside_) gate = gate ? g_.alu(Op::And, {gate, condition}) : condition;
    UOp other = load.srcCount() > 1 ? load.src(1) : g_.constant(Scalar::of(load.dtype(), 0));
    return g_.load(load.src(0), other, gate);
  }

  Graph& g_;
  std::string name_;
  uint32_t id_;
  std::vector<MadeLoop> made_;
  std::vector<Dim> dims_, phases_;
  std::optional<size_t> firstWindow_;    // in dims_
  std::vector<UOp> from_, to_, inside_;  // inside_ speaks of the loops of the copy
};

// The reduce axis whose steps meet those of `out`, of those not joined yet; nothing where there is none.
std::optional<WindowDim> windowAlong(const Access& access, UOp out, std::span<const Axis> axes,
                                     std::span<const WindowDim> joined) {
  std::optional<WindowDim> found;
  int64_t shortest = 0;
  const int64_t stride = *strideOf(access, out);
  for (const Axis& tap : axes) {
    if (tap.nest != Nest::Reduce || !slides(access, out, tap.range)) continue;
    const int64_t step = *strideOf(access, tap.range);
    if (found && shortest <= step) continue;
    if (std::ranges::find(joined, tap.range, &WindowDim::axis) != joined.end()) continue;
    const int64_t unit = std::min(stride, step);
    found = {tap.range, out, stride / unit, step / unit}, shortest = step;
  }
  return found;
}

// Joins output axes with reduce axes that move the address alike. Short steps first: lines may be as far apart as taps.
std::vector<WindowDim> windowDims(const Access& access, std::span<const Axis> axes) {
  std::vector<UOp> outs;
  for (const Axis& axis : axes)
    if (axis.nest == Nest::Output && strideOf(access, axis.range).value_or(0) > 0) outs.push_back(axis.range);
  std::ranges::stable_sort(outs, {}, [&](UOp out) { return *strideOf(access, out); });
  std::vector<WindowDim> dims;
  for (UOp out : outs)
    if (std::optional<WindowDim> window = windowAlong(access, out, axes, dims)) dims.push_back(*window);
  std::vector<WindowDim>
      ordered;  // windows at the place of their output axes, so that lines stay inside of single taps
  for (const Axis& axis : axes) {
    auto pair = std::ranges::find(dims, axis.range, &WindowDim::out);
    if (pair != dims.end())
      ordered.push_back(*pair);
    else if (std::ranges::find(dims, axis.range, &WindowDim::axis) == dims.end())
      ordered.push_back({axis.range});
  }
  return ordered;
}

}  // namespace

Result<Applied> applyWindow(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& args = std::get<PackArgs>(opt.args);
  std::vector<Axis> axes;
  std::vector<UOp> ranges;
  for (int32_t number : args.axes) {
    SVOD_TRY(Axis axis, pickAxis(sink, number, kOutput | kReduce, {AxisType::Loop, AxisType::Reduce}));
    if (std::ranges::find(ranges, axis.range) != ranges.end())
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " is named twice");
    if (!constExtent(axis.range))
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " has a symbolic extent");
    axes.push_back(axis), ranges.push_back(axis.range);
  }
  SVOD_TRY(UOp load, loadToPack(sink, opt.kind, args.slot, ranges));
  std::vector<WindowDim> dims = windowDims({load, simplify(g, load.src(0).src(1)), args.slot, false}, axes);
  if (std::ranges::none_of(dims, [](const WindowDim& d) { return static_cast<bool>(d.out); }))
    return fail(Diag::BadOpt, "no two of these axes slide over parameter " + std::to_string(args.slot),
                "pack copies an operand without windows");
  WindowCopy copy(g, sink, "p" + std::to_string(args.slot));
  for (const WindowDim& d : dims) copy.add(d);
  UOp read = copy.readInPlaceOf(load, sink);
  if (!read)
    return fail(Diag::BadOpt, "parameter " + std::to_string(args.slot) + " is read at more than sums of these axes");
  return Applied(substitute(g, sink, std::span(&load, 1), std::span(&read, 1)), copy.made());
}

}  // namespace svod
