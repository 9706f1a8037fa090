// The opt that copies what lies under sliding windows.
#include <algorithm>
#include <functional>
#include <optional>

#include "facts/accesses.h"
#include "facts/steps.h"
#include "ir/shape.h"
#include "opts/legality.h"
#include "opts/local_buffer_opts.h"
#include "opts/local_copy.h"
#include "symbolic/linear.h"
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

  /// What reads the copy of `held(load)`. Null: `load` is no function of these dims.
  UOp readOf(UOp load, const std::function<UOp(UOp load)>& held, UOp sink) {
    std::vector<Dim> dims = dims_;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(firstWindow_.value_or(0)), phases_.begin(), phases_.end());
    std::vector<UOp> ranges, places;
    for (const Dim& d : dims) ranges.push_back(d.range), places.push_back(d.place);
    UOp value = substitute(g_, guarded(load), from_, to_);
    UOp again = simplify(g_, substitute(g_, value, ranges, places));
    if (again.op() == Op::Load && again.srcCount() == 3 && again.src(2) == g_.boolean(true))
      again = g_.load(again.src(0));
    if (again != simplify(g_, load)) return {};
    return g_.load(g_.indexRowMajor(g_.fill(simplify(g_, held(value)), ranges, nextBufferSlot(sink)), ranges, places));
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
  const AddressStep stride = *stepOf(access.address, out);
  for (const Axis& tap : axes) {
    if (tap.nest != Nest::Reduce || !slides(access, out, tap.range)) continue;
    const AddressStep step = *stepOf(access.address, tap.range);
    if (found && shortest <= step.most()) continue;
    if (std::ranges::find(joined, tap.range, &WindowDim::axis) != joined.end()) continue;
    found = {tap.range, out, stride.timesOf(step).value_or(1), step.timesOf(stride).value_or(1)};
    shortest = step.most();
  }
  return found;
}

// Joins output axes with reduce axes that move the address alike. Short steps first: lines may be as far apart as taps.
std::vector<WindowDim> windowDims(const Access& access, std::span<const Axis> axes) {
  std::vector<std::pair<int64_t, UOp>> outs;
  for (const Axis& axis : axes)
    if (const std::optional<AddressStep> step = stepOf(access.address, axis.range);
        axis.nest == Nest::Output && step && step->isForward())
      outs.emplace_back(step->most(), axis.range);
  std::ranges::stable_sort(outs, {}, &std::pair<int64_t, UOp>::first);
  std::vector<WindowDim> dims;
  for (const auto& [step, out] : outs)
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

// A load whose gate says where its windows lie, apart from what every store asks for too: what is read where that does
// not hold is never stored.
struct GatedLoad {
  UOp load;                   // without those conditions
  std::vector<UOp> ofStores;  // they
};

std::vector<UOp> clausesOf(UOp access, size_t gate) {
  return access.srcCount() > gate ? splitClauses(access.src(gate)) : std::vector<UOp>();
}

UOp withClauses(Graph& g, UOp load, std::span<const UOp> clauses) {
  return clauses.empty() ? g.load(load.src(0)) : g.load(load.src(0), load.src(1), joinClauses(g, clauses));
}

GatedLoad apartFromStores(Graph& g, UOp sink, UOp load) {
  std::vector<UOp> own = clausesOf(load, 2), ofStores = own;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Store) continue;
    const std::vector<UOp> asked = clausesOf(n, 2);
    std::erase_if(ofStores, [&](UOp c) { return std::ranges::find(asked, c) == asked.end(); });
  }
  std::erase_if(own, [&](UOp c) { return std::ranges::find(ofStores, c) != ofStores.end(); });
  return {withClauses(g, load, own), std::move(ofStores)};
}

// a < b, where the window is at out: the same of the last position under a window there, so that it speaks of
// positions. The clause itself where it is about no window, or about more than where that begins.
UOp ofPositions(Graph& g, UOp clause, std::span<const WindowDim> dims) {
  const WindowDim* found = nullptr;
  for (const WindowDim& d : dims)
    if (d.out && clause.dependsOn(d.out)) {
      if (found) return clause;
      found = &d;
    }
  if (!found || clause.op() != Op::Lt || clause.src(0).dtype() != DType::Index) return clause;
  Linear form = linearOf(clause.src(0));
  form.add(linearOf(clause.src(1)), -1);
  const int64_t moves = form.coefOf(found->out);
  if (form.overflow || moves < 1 ||
      std::ranges::any_of(
          form.terms,
          [&](const Term& t) {
            return (t.base != found->out && t.base.dependsOn(found->out)) || t.base.dependsOn(found->axis);
          }))
    return clause;
  Linear last;
  last.add(form, found->stride);
  last.add(found->axis, moves * found->dilation);
  last.add(found->stride - 1 - moves * found->dilation * (maxExtent(found->axis) - 1));
  const UOp at = build(g, last);
  return at ? g.alu(Op::Lt, {at, g.index(0)}) : clause;
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
  const GatedLoad gated = apartFromStores(g, sink, load);
  std::vector<WindowDim> dims = windowDims({gated.load, simplify(g, load.src(0).src(1)), args.slot, false}, axes);
  if (std::ranges::none_of(dims, [](const WindowDim& d) { return static_cast<bool>(d.out); }))
    return fail(Diag::BadOpt, "no two of these axes slide over parameter " + std::to_string(args.slot),
                "pack copies an operand without windows");
  std::vector<UOp> clauses = clausesOf(gated.load, 2);
  for (UOp clause : gated.ofStores) clauses.push_back(ofPositions(g, clause, dims));
  for (UOp r : load.ranges())  // what one instruction sums up lies side by side
    if (axisType(r) == AxisType::Dot) dims.push_back({r});
  WindowCopy copy(g, sink, "p" + std::to_string(args.slot));
  for (const WindowDim& d : dims) copy.add(d);
  const UOp flipped = flippedAround(sink, load);
  const auto held = [&](UOp value) { return substitute(g, flipped, std::span(&load, 1), std::span(&value, 1)); };
  UOp read = copy.readOf(withClauses(g, load, clauses), held, sink);
  if (!read)
    return fail(Diag::BadOpt, "parameter " + std::to_string(args.slot) + " is read at more than sums of these axes");
  return Applied(substitute(g, sink, std::span(&flipped, 1), std::span(&read, 1)), copy.made());
}

}  // namespace svod
