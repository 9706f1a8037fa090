#include "opts/nest_opts.h"

#include <algorithm>

#include "ir/shape.h"
#include "opts/legality.h"
#include "opts/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

// In every End and Reduce, the ranges of `order` that it closes take the places they hold together, in this
// order.
UOp permuteRanges(Graph& g, UOp sink, std::span<const UOp> order) {
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    if (n.op() != Op::End && n.op() != Op::Reduce && n.op() != Op::Fill) return g.withSrc(n, src);
    std::vector<UOp> list(src.begin(), src.end()), present;
    for (UOp r : order)
      if (std::ranges::find(src, r) != src.end()) present.push_back(r);
    size_t next = 0;
    for (UOp& r : list)
      if (std::ranges::find(present, r) != present.end()) r = present[next++];
    return g.withSrc(n, list);
  });
}

UOp moveOutermost(Graph& g, UOp sink, UOp range) {
  return transform(g, sink, [&](UOp n, std::span<const UOp> src) {
    if (n.op() != Op::End) return g.withSrc(n, src);
    std::vector<UOp> list(src.begin(), src.end());
    auto at = std::find(list.begin(), list.end(), range);
    if (at != list.end()) std::rotate(list.begin() + 1, at, at + 1);
    return g.withSrc(n, list);
  });
}

// Outer and inner become one loop that counts through both, inner fastest. Wherever it is closed, it stands
// for outer.
Applied mergeRanges(Graph& g, UOp sink, UOp outer, UOp inner, AxisType type) {
  UOp extent = inner.src(0);
  UOp merged = g.range(mulIndices(g, outer.src(0), extent), outer.argAs<AxisArg>().id, type);
  Reloop loops[] = {{outer, g.alu(Op::Floordiv, {merged, extent}), {merged}},
                    {inner, g.alu(Op::Floormod, {merged, extent}), {}}};
  return {reloop(g, sink, loops), {{MadeLoop::How::Join, merged, {outer, inner}}}};
}

Status needWorkgroups(const Caps& caps, std::string_view what) {
  if (caps.workgroups) return {};
  return fail(Diag::BadOpt, "the target has no " + std::string(what), "use thread, vector and upcast on a CPU");
}

// BadOpt unless b stands directly inside a wherever one of them is closed.
Status adjacent(UOp sink, UOp a, UOp b) {
  std::vector<UOp> closers = closersOf(sink, a);
  if (closers != closersOf(sink, b)) return fail(Diag::BadOpt, "the two axes do not belong to the same loop nests");
  for (UOp closer : closers) {
    if (closer.op() == Op::Fill) return fail(Diag::BadOpt, "the axes of a stage are its layout and stay apart");
    auto list = closer.src().subspan(1);
    auto at = std::ranges::find(list, a);
    if (at + 1 == list.end() || *(at + 1) != b)
      return fail(Diag::BadOpt, "the second axis is not directly inside the first",
                  "use order first, outer axis named first");
  }
  return {};
}

}  // namespace

Result<Applied> applyMerge(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& axes = std::get<AxisList>(opt.args).axes;
  if (axes.size() != 2 || axes[0] == axes[1]) return fail(Diag::BadOpt, "merge takes two axes", "write merge(0,1)");
  SVOD_TRY(Axis a, pickAxis(sink, axes[0], kOutput | kReduce, {AxisType::Loop, AxisType::Reduce, AxisType::Global}));
  SVOD_TRY(Axis b, pickAxis(sink, axes[1], kOutput | kReduce, {AxisType::Loop, AxisType::Reduce, AxisType::Global}));
  if (axisType(a.range) != axisType(b.range)) return fail(Diag::BadOpt, "the two axes have different types");
  SVOD_CHECK(adjacent(sink, a.range, b.range));
  Applied merged = mergeRanges(g, sink, a.range, b.range, axisType(a.range));
  merged.sink = simplify(g, merged.sink);
  return merged;
}

Result<Applied> applyPitch(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& args = std::get<TwoAxesAmount>(opt.args);
  if (args.outer == args.inner) return fail(Diag::BadOpt, "pitch takes two axes", "write pitch(0,1,9)");
  SVOD_TRY(Axis a, pickAxis(sink, args.outer, kOutput, {AxisType::Loop}));
  SVOD_TRY(Axis b, pickAxis(sink, args.inner, kOutput, {AxisType::Loop}));
  SVOD_CHECK(adjacent(sink, a.range, b.range));
  std::optional<int64_t> lines = constExtent(a.range), width = constExtent(b.range);
  if (!lines || !width) return fail(Diag::BadOpt, "pitch of an axis of symbolic extent");
  if (args.amount < *width || args.amount > 4 * *width)
    return fail(Diag::BadOpt, "a pitch of " + std::to_string(args.amount) + " for lines of " + std::to_string(*width),
                "use the extent of the inner axis up to four times that");
  UOp pitch = g.index(args.amount), extent = g.index((*lines - 1) * args.amount + *width);
  UOp both = g.range(extent, a.range.argAs<AxisArg>().id, AxisType::Loop), column = g.alu(Op::Floormod, {both, pitch});
  Reloop loops[] = {{a.range, g.alu(Op::Floordiv, {both, pitch}), {both}},
                    {b.range, column, {}, g.alu(Op::Lt, {column, g.index(*width)})}};
  return Applied(simplify(g, reloop(g, sink, loops)), {{MadeLoop::How::Join, both, {a.range, b.range}}});
}

Result<Applied> applyOrder(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  std::vector<UOp> order;
  for (int32_t number : std::get<AxisList>(opt.args).axes) {
    SVOD_TRY(Axis axis, pickAxis(sink, number, kAnyNest, {AxisType::Loop, AxisType::Reduce, AxisType::Global}));
    if (std::ranges::find(order, axis.range) != order.end())
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " is named twice");
    if (axis.nest == Nest::Reduce) SVOD_CHECK(mayReorder(sink, axis.range, caps));
    if (axis.nest == Nest::Fill && closersOf(sink, axis.range)[0].argAs<ReduceArg>().op != Op::Store)
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " adds to a local buffer");
    if (!order.empty() && closersOf(sink, order[0]) != closersOf(sink, axis.range))
      return fail(Diag::BadOpt, "the axes do not belong to the same loop nests", kAxesHere);
    order.push_back(axis.range);
  }
  if (order.size() < 2) return fail(Diag::BadOpt, "order needs at least two axes", "write order(1,0)");
  return permuteRanges(g, sink, order);
}

Result<Applied> applyThread(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  if (!caps.threads) return fail(Diag::BadOpt, "the target runs a kernel on one thread");
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kOutput, {AxisType::Loop}));
  if (args.amount < 1) return fail(Diag::BadOpt, "a tile needs at least one iteration");
  UOp range = axis.range, old;
  std::vector<MadeLoop> made;
  for (UOp n : toposort(sink)) {
    if (n.op() == Op::Range && axisType(n) == AxisType::Thread) old = n;
    const bool isOutside = n.op() == Op::End && std::ranges::find(n.src(), range) == n.src().end();
    if (isOutside && !n.dependsOn(range))  // an End inside of this loop depends on it
      return fail(Diag::BadOpt, "a store of the kernel is outside of axis " + std::to_string(args.axis),
                  "a thread axis must enclose every store");
  }
  if (args.amount > 1 && constExtent(range) != args.amount) {
    SVOD_CHECK(pickAmount(axis, args.amount, INT32_MAX));
    SplitResult split =
        splitRange(g, sink, {range, args.amount, AxisType::Loop, AxisType::Loop, SplitForm::Inner, caps.overwrites});
    made = partsOf(split, range), sink = split.sink, range = split.outer;
  } else if (args.amount > 1) {
    return fail(Diag::BadOpt, "one tile would hold the whole axis", "use a smaller amount");
  }
  sink = moveOutermost(g, sink, range);
  if (!old) return Applied(retypeRange(g, sink, range, AxisType::Thread), std::move(made));
  Applied merged = mergeRanges(g, moveOutermost(g, sink, old), old, range, AxisType::Thread);
  merged.made.insert(merged.made.begin(), made.begin(), made.end());
  return merged;
}

Result<Applied> applyGlobal(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  SVOD_CHECK(needWorkgroups(caps, "grid"));
  std::vector<UOp> chosen;
  for (int32_t number : std::get<AxisList>(opt.args).axes) {
    SVOD_TRY(Axis axis, pickAxis(sink, number, kOutput, {AxisType::Loop}));
    if (std::ranges::find(chosen, axis.range) != chosen.end())
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " is named twice");
    for (UOp n : toposort(sink))
      if (n.op() == Op::End && std::ranges::find(n.src(), axis.range) == n.src().end())
        return fail(Diag::BadOpt, "a store of the kernel is outside of axis " + std::to_string(number));
    chosen.push_back(axis.range);
  }
  for (UOp range : chosen) sink = retypeRange(g, sink, range, AxisType::Global);
  return sink;
}

Result<Applied> applyLocal(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_CHECK(needWorkgroups(caps, "workgroups"));
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kOutput, {AxisType::Global, AxisType::Loop}));
  SVOD_TRY(int64_t n, pickAmount(axis, args.amount, caps.maxLocal));
  const AxisType outer = axisType(axis.range);
  SplitResult split = splitRange(g, sink, {axis.range, n, outer, AxisType::Local, SplitForm::Inner, caps.overwrites});
  return Applied(split.sink, {{MadeLoop::How::Part, split.inner, {axis.range}, "l"}});
}

Result<Applied> applyGroup(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_CHECK(needWorkgroups(caps, "workgroups"));
  SVOD_TRY(Axis axis, pickAxis(sink, args.axis, kReduce, {AxisType::Reduce}));
  SVOD_TRY(int64_t n, pickAmount(axis, args.amount, caps.maxLocal));
  SVOD_CHECK(mayReorder(sink, axis.range, caps));
  int64_t bytes = n;
  for (UOp closer : closersOf(sink, axis.range)) {
    for (UOp r : closer.ranges()) {
      AxisType type = axisType(r);
      if (type == AxisType::Reduce || type == AxisType::Unroll || type == AxisType::Group)
        return fail(Diag::BadOpt, "the reduce of axis " + std::to_string(args.axis) + " is inside another reduce");
      if (type == AxisType::Spread)
        return fail(Diag::BadOpt,
                    "the reduce of axis " + std::to_string(args.axis) + " is inside what the threads share already");
      const bool isOfTile = type == AxisType::Warp || type == AxisType::Core;
      if (type == AxisType::Upcast || type == AxisType::Local || isOfTile) bytes *= maxExtent(r);
    }
    if (bytes * byteSize(closer.dtype()) > caps.sharedBytes)
      return fail(Diag::BadOpt,
                  "the partial results need more than " + std::to_string(caps.sharedBytes) + " shared bytes",
                  "use a smaller amount");
  }
  SplitForm form = opt.kind == OptKind::GroupTop ? SplitForm::Chunks : SplitForm::Inner;
  SplitResult split = splitRange(g, sink, {axis.range, n, AxisType::Reduce, AxisType::Group, form, caps.overwrites});
  return Applied(split.sink, {{MadeLoop::How::Part, split.inner, {axis.range}, "g"}});
}

Result<Applied> applySwap(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& axes = std::get<AxisList>(opt.args).axes;
  if (axes.size() != 2 || axes[0] == axes[1]) return fail(Diag::BadOpt, "swap takes two axes", "write swap(0,1)");
  SVOD_TRY(Axis a, pickAxis(sink, axes[0], kOutput, {AxisType::Global}));
  SVOD_TRY(Axis b, pickAxis(sink, axes[1], kOutput, {AxisType::Global}));
  std::vector<UOp> order{b.range, a.range};
  if (axes[0] > axes[1]) std::swap(order[0], order[1]);
  return permuteRanges(g, sink, order);
}

Result<Applied> applyNoLocals(Graph&, UOp sink, const OptOp&, const Caps&) {
  for (UOp n : toposort(sink))
    if (n.op() == Op::Range && isThreadOfGroup(axisType(n)))
      return fail(Diag::BadOpt, "the kernel has a workgroup axis already", "put nolocals first");
  return sink;
}

}  // namespace svod
