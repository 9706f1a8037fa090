#include "opts/local_buffer_opts.h"

#include <algorithm>
#include <ranges>

#include "facts/local_buffers.h"
#include "ir/shape.h"
#include "opts/legality.h"
#include "opts/local_copy.h"
#include "opts/masked_product.h"
#include "symbolic/symbolic.h"

namespace svod {

Result<UOp> loadToPack(UOp sink, OptKind kind, uint32_t slot, std::span<const UOp> axes) {
  UOp found;
  std::string param = "parameter " + std::to_string(slot);
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Load && n.op() != Op::Store) continue;
    UOp storage = storageOf(n.src(0));
    if (storage.op() != Op::Param || storage.argAs<SlotArg>().slot != slot) continue;
    if (n.op() == Op::Store)
      return fail(Diag::BadOpt, param + " is written by the kernel",
                  std::string(info(kind).name) + " takes an operand that is only read");
    if (!std::ranges::all_of(axes, [&](UOp r) { return n.dependsOn(r); })) continue;
    if (found) return fail(Diag::BadOpt, param + " is read at two addresses along these axes");
    found = n;
  }
  if (found) return found;
  return fail(Diag::BadOpt, param + " is not read at an address that depends on all of these axes",
              std::string(info(kind).signature) + " takes the number of a kernel parameter first; " + kAxesHere);
}

UOp flippedAround(UOp sink, UOp load) {
  for (;;) {
    UOp user;
    for (UOp n : toposort(sink)) {
      if (std::ranges::find(n.src(), load) == n.src().end()) continue;
      if (user) return load;
      user = n;
    }
    const bool flips = user && user.op() == Op::Xor && user.src(1).isConst();
    if (!flips && !(user && user.op() == Op::Bitcast && isInt(user.dtype()))) return load;
    load = user;
  }
}

namespace {

// The ranges of `value` that are expanded, the vector axis and then the groups of a dot product last: they become the
// innermost dims of a buffer.
void closeExpanded(UOp value, std::vector<UOp>& closed) {
  auto rank = [](UOp r) { return axisType(r) == AxisType::Dot ? 2 : axisType(r) == AxisType::Vector ? 1 : 0; };
  for (int next : {0, 1, 2})
    for (UOp r : value.ranges())
      if (isExpanded(axisType(r)) && rank(r) == next) closed.push_back(r);
}

// Copies of a row stand one after the other, so that each is contiguous.
std::vector<UOp> rowDims(UOp value, UOp axis) {
  std::vector<UOp> copies, dims;
  closeExpanded(value, copies);
  for (UOp r : copies)
    if (axisType(r) != AxisType::Vector) dims.push_back(r);
  dims.push_back(axis);
  for (UOp r : copies)
    if (axisType(r) == AxisType::Vector) dims.push_back(r);
  return dims;
}

// Values that are computed both in the loop `from` and, with the same expression, in the loop `to`: the
// largest ones.
std::vector<UOp> sharedValues(Graph& g, UOp sink, UOp from, std::span<const UOp> to) {
  std::vector<UOp> order = toposort(sink), shared;
  std::vector<bool> present(g.size()), loads(g.size()), inner(g.size());
  for (UOp n : order) present[n.id()] = true;
  for (UOp n : order)
    loads[n.id()] = n.op() == Op::Load || std::ranges::any_of(n.src(), [&](UOp s) { return loads[s.id()]; });
  Simplifier simplifier(g);
  auto computedFor = [&](UOp n, UOp axis) {
    UOp other = simplifier(substitute(g, n, std::span(&from, 1), std::span(&axis, 1)));
    return other.id() < present.size() && present[other.id()];
  };
  for (UOp n : std::views::reverse(order)) {
    bool value = (n.op() == Op::Load || isElementwise(n.op())) && n.dtype() != DType::Index && n.dependsOn(from);
    bool candidate = value && loads[n.id()] && std::ranges::any_of(to, [&](UOp axis) { return computedFor(n, axis); });
    if (candidate && !inner[n.id()]) shared.push_back(n);
    if (candidate || inner[n.id()])
      for (UOp s : n.src()) inner[s.id()] = true;
  }
  return shared;
}

}  // namespace

Result<Applied> applyPack(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<PackArgs>(opt.args);
  std::vector<UOp> closed;
  for (int32_t number : args.axes) {
    SVOD_TRY(Axis axis, pickAxis(sink, number, kAnyNest, {AxisType::Loop, AxisType::Reduce}));
    if (std::ranges::find(closed, axis.range) != closed.end())
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " is named twice");
    closed.push_back(axis.range);
  }
  // What threads copy for each other holds zeros where there are no terms, and each of them does without the mask.
  if (caps.workgroups) sink = withMasksInside(g, sink, closed);
  SVOD_TRY(UOp load, loadToPack(sink, opt.kind, args.slot, closed));
  load = flippedAround(sink, load);
  closeExpanded(load, closed);
  LocalCopy panel = makeLocalCopy(g, sink, load, closed);
  UOp read = panel.read(g, panel.closed);
  return Applied(substitute(g, sink, std::span(&load, 1), std::span(&read, 1)),
                 madeOf(panel.copies, "p" + std::to_string(args.slot)));
}

Result<Applied> applyShare(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  sink = simplify(g, sink);  // equal values have equal nodes only in normal form
  std::vector<UOp> axes;
  for (int32_t number : std::get<AxisList>(opt.args).axes) {
    SVOD_TRY(Axis axis, pickAxis(sink, number, kOutput | kReduce, {AxisType::Loop, AxisType::Reduce}));
    if (!axes.empty() && axes[0].src(0) != axis.range.src(0))
      return fail(Diag::BadOpt, "the axes have different extents", kAxesHere);
    if (std::ranges::find(axes, axis.range) != axes.end())
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " is named twice");
    axes.push_back(axis.range);
  }
  if (axes.size() < 2) return fail(Diag::BadOpt, "share needs two axes or more", "write share(1,3)");
  std::span<const UOp> others = std::span(axes).subspan(1);
  std::vector<UOp> from, to, shared = sharedValues(g, sink, axes[0], others);
  if (shared.empty())
    return fail(Diag::BadOpt, "no value is computed along both axes",
                "name the axis of one sweep, then those of the others, before splitting them");
  std::vector<MadeLoop> made;
  UOp grown = sink;  // keeps slots and range ids of several buffers apart
  for (UOp value : shared) {
    LocalCopy row = makeLocalCopy(g, grown, value, rowDims(value, axes[0]));
    grown = g.make(Op::Sink, DType::Void, {grown, row.fill});
    std::ranges::copy(madeOf(row.copies, "r"), std::back_inserter(made));
    for (UOp axis : axes) {
      std::vector<UOp> at = row.closed;
      std::ranges::replace(at, axes[0], axis);
      from.push_back(simplify(g, substitute(g, value, std::span(&axes[0], 1), std::span(&axis, 1))));
      to.push_back(row.read(g, at));
    }
  }
  return Applied(substitute(g, sink, from, to), std::move(made));
}

namespace {

// The one reduce that closes `axis`, folding over its other ranges only; the value itself where there is none.
UOp reduceWithout(Graph& g, UOp reduce, UOp axis) {
  std::vector<UOp> src;
  for (UOp s : reduce.src())
    if (s != axis) src.push_back(s);
  return src.size() == 1 ? src[0] : g.withSrc(reduce, src);
}

}  // namespace

Result<Applied> applyKBlock(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& numbers = std::get<AxisList>(opt.args).axes;
  if (numbers.size() < 2)
    return fail(Diag::BadOpt, "kblock needs a reduce axis and at least one output axis", "write kblock(2,0,1)");
  if (caps.workgroups)
    return fail(Diag::BadOpt, "kblock keeps sums of one thread, and this target has workgroups",
                "use group or grouptop");
  SVOD_TRY(Axis block, pickAxis(sink, numbers[0], kReduce, {AxisType::Reduce}));
  SVOD_CHECK(mayReorder(sink, block.range, caps));
  std::vector<UOp> reduces = closersOf(sink, block.range), closed;
  if (reduces.size() != 1) return fail(Diag::BadOpt, "several reductions run along axis " + std::to_string(numbers[0]));
  UOp reduce = reduces[0];
  for (int32_t number : std::span(numbers).subspan(1)) {
    SVOD_TRY(Axis axis, pickAxis(sink, number, kOutput, {AxisType::Loop}));
    if (std::ranges::find(closed, axis.range) != closed.end())
      return fail(Diag::BadOpt, "axis " + std::to_string(number) + " is named twice");
    if (!reduce.dependsOn(axis.range))
      return fail(Diag::BadOpt, "the reduction does not depend on axis " + std::to_string(number));
    closed.push_back(axis.range);
  }
  closeExpanded(reduce, closed);
  UOp partial = reduceWithout(g, reduce, block.range);
  std::vector<UOp> all{block.range};
  all.insert(all.end(), closed.begin(), closed.end());
  Renamed own =
      withOwnRanges(g, sink, partial, all, [&](UOp r) { return r == block.range ? AxisType::Serial : axisType(r); });
  std::span<const UOp> loops = own.ranges;
  UOp buffer = g.accumulator(reduce.argAs<ReduceArg>().op, own.value, loops.first(1), loops.subspan(1), own.slot);
  UOp read = g.load(g.indexRowMajor(buffer, closed, closed));
  return Applied(substitute(g, sink, std::span(&reduce, 1), std::span(&read, 1)), madeOf(own.copies, "b"));
}

namespace {

// The one buffer filled along a fill axis, or the one reduce along a reduce axis.
Result<UOp> closerToHold(UOp sink, const Axis& axis) {
  std::vector<UOp> closers = closersOf(sink, axis.range);
  if (closers.size() == 1 && (closers[0].op() != Op::Fill || closers[0].argAs<ReduceArg>().op == Op::Store))
    return closers[0];
  return fail(Diag::BadOpt, "hold needs an axis of one reduction, or of one local buffer that is filled once",
              kAxesHere);
}

// `fill` with another innermost dim that `loop` counts through, filled outside of that loop.
Applied heldFill(Graph& g, UOp sink, UOp fill, UOp loop) {
  std::vector<UOp> closed(fill.src().begin() + 1, fill.src().end());
  closed.push_back(loop);
  Renamed own = withOwnRanges(g, sink, fill.src(0), closed, axisType);
  UOp old = bufferOf(fill), store = own.value, lines = g.index(maxExtent(loop));
  UOp size = g.index(old.maxNumel() * maxExtent(loop));
  UOp buffer = g.buffer(old.dtype(), {&size, 1}, {own.slot, Space::Local});
  const auto widened = [&](UOp flat, UOp last) { return addIndices(g, mulIndices(g, flat, lines), last); };
  UOp at = widened(store.src(0).src(1), own.ranges.back());
  std::vector<UOp> src(store.src().begin(), store.src().end()), filling{UOp()};
  src[0] = g.indexInto(buffer, {&at, 1});
  filling[0] = g.make(Op::Store, DType::Void, src);
  filling.insert(filling.end(), own.ranges.begin(), own.ranges.end());
  UOp held = g.make(Op::Fill, fill.dtype(), filling, fill.argAs<ReduceArg>());
  UOp changed = transform(g, sink, [&](UOp n, std::span<const UOp> from) {
    if (n.op() != Op::Index || behindAliases(n.src(0)) != fill) return g.withSrc(n, from);
    UOp flat = widened(from[1], loop);
    return g.indexInto(held, {&flat, 1});
  });
  return {changed, madeOf(own.copies, "h")};
}

}  // namespace

Result<Applied> applyHold(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& numbers = std::get<AxisList>(opt.args).axes;
  if (numbers.size() != 2 || numbers[0] == numbers[1])
    return fail(Diag::BadOpt, "hold takes a fill or reduce axis and a loop around it", "write hold(4,1)");
  SVOD_TRY(Axis axis, pickAxis(sink, numbers[0], kFill | kReduce, {AxisType::Loop, AxisType::Reduce}));
  SVOD_TRY(Axis loop, pickAxis(sink, numbers[1], kOutput | kFill, {AxisType::Loop}));
  SVOD_TRY(UOp closer, closerToHold(sink, axis));
  if (!closer.dependsOn(loop.range))
    return fail(Diag::BadOpt,
                "axis " + std::to_string(numbers[1]) + " is not around axis " + std::to_string(numbers[0]), kAxesHere);
  if (closer.op() == Op::Fill) return heldFill(g, sink, closer, loop.range);
  std::vector<UOp> closed;
  closeExpanded(closer, closed);
  closed.push_back(loop.range);
  LocalCopy copy = makeLocalCopy(g, sink, closer, closed);
  UOp read = copy.read(g, copy.closed);
  return Applied(substitute(g, sink, std::span(&closer, 1), std::span(&read, 1)), madeOf(copy.copies, "h"));
}

}  // namespace svod
