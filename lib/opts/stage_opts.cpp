#include "opts/stage_opts.h"

#include <algorithm>

#include "facts/local_buffers.h"
#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "ir/shape.h"
#include "ir/workgroup.h"
#include "opts/deal.h"
#include "opts/legality.h"
#include "opts/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

// The one local buffer that is filled along a fill axis, each element once.
Result<UOp> pickStage(UOp sink, int32_t number, const Caps& caps) {
  if (!caps.workgroups) return fail(Diag::BadOpt, "the target has no workgroups", "threads of a CPU share no copies");
  SVOD_TRY(Axis axis, pickAxis(sink, number, kFill, {AxisType::Loop}));
  const std::vector<UOp> closers = closersOf(sink, axis.range);
  if (closers.size() == 1 && closers[0].argAs<ReduceArg>().op == Op::Store) return closers[0];
  return fail(Diag::BadOpt, "axis " + std::to_string(number) + " fills more than one buffer, or adds to one");
}

bool isPlainLoop(UOp r) { return axisType(r) == AxisType::Loop; }

// Whether a thread computes elements along these loops of a fill without the others.
bool isElementwise(UOp fill, std::span<const UOp> loops) {
  return std::ranges::none_of(toposort(fill.src(0)), [&](UOp n) {
    return needsOthers(n) && std::ranges::any_of(loops, [&](UOp r) { return n.dependsOn(r); });
  });
}

// A stage whose elements a thread computes without the others.
Status checkElementwise(UOp fill) {
  const std::span<const UOp> closed = fill.src().subspan(1);
  if (!std::ranges::all_of(closed, isPlainLoop))
    return fail(Diag::BadOpt, "a loop of the buffer is expanded already", "put spread before its vector and upcast");
  if (!isElementwise(fill, closed))
    return fail(Diag::BadOpt, "elements of the buffer are made of other buffers, or by several threads",
                "spread takes what one thread computes alone");
  return {};
}

// Elements of the stage, and what they are copies of.
bool areNeighbours(UOp fill) {
  const std::optional<Access> copy = bareCopyOf(fill);
  return copy && strideOf(*copy, fill.src(fill.srcCount() - 1)) == 1;
}

Status checkOwner(UOp fill) {
  for (UOp r : fill.ranges())
    if (isThreadOfGroup(axisType(r)))
      return fail(Diag::BadOpt, "each thread has a buffer of its own there",
                  "pack all that the threads read, before local");
  return {};
}

/// The fill with its elements along `loops` dealt to the threads of the workgroup, `width` neighbours at once. Another
/// fill may have the same loops, one that this one is made of, too.
UOp dealt(Graph& g, UOp sink, UOp fill, std::span<const UOp> loops, int64_t width) {
  const Dealt to = dealtToThreads(g, loops, width, nextRangeId(sink));
  const auto isOpen = [&](UOp n) { return std::ranges::any_of(loops, [&](UOp r) { return n.dependsOn(r); }); };
  std::vector<UOp> src{transform(g, fill.src(0), [&](UOp n, std::span<const UOp> from) {
    const auto loop = std::ranges::find(loops, n);
    if (loop != loops.end()) return to.at[static_cast<size_t>(loop - loops.begin())];
    return isOpen(n) ? g.withSrc(n, from) : n;
  })};
  src.insert(src.end(), to.ranges.begin(), to.ranges.end());
  for (UOp r : fill.src().subspan(1))
    if (std::ranges::find(loops, r) == loops.end()) src.push_back(r);
  const UOp shared = g.withSrc(fill, src);
  return simplify(g, substitute(g, sink, {&fill, 1}, {&shared, 1}));
}

/// What all local buffers take together.
int64_t bytesInMemory(UOp sink) {
  int64_t bytes = 0;
  const int64_t threads = workgroupThreads(sink);
  for (UOp n : toposort(sink))
    if (n.op() == Op::Fill) bytes += bytesInMemory(n, threads);
  return bytes;
}

/// The loops of a fill along which one thread would work alone; none where there is no such thread.
std::vector<UOp> loneLoops(UOp sink, UOp fill, int64_t threads, const GpuTarget& gpu) {
  const std::span<const UOp> closed = fill.src().subspan(1);
  const auto isSpread = [](UOp r) { return axisType(r) == AxisType::Spread; };
  const bool isLone = fill.argAs<ReduceArg>().op == Op::Store && checkOwner(fill) &&
                      std::ranges::none_of(closed, isSpread) && !isFilledInBulk(sink, fill, threads, gpu);
  std::vector<UOp> loops;
  if (isLone) std::ranges::copy_if(closed, std::back_inserter(loops), isPlainLoop);
  return isElementwise(fill, loops) ? loops : std::vector<UOp>();
}

/// The buffer of a fill as a ring.
Result<Applied> turningBuffer(Graph& g, UOp sink, UOp fill, int64_t stages) {
  if (stages < 2 || stages > kMostStages)
    return fail(Diag::BadOpt, "a ring has 2 to 8 stages", "three are a good start");
  SVOD_CHECK(checkOwner(fill));
  const auto isFixed = [](UOp r) { return constExtent(r).has_value(); };
  if (!std::ranges::all_of(fill.src().subspan(1), isFixed))
    return fail(Diag::BadOpt, "stages of the ring would have as many elements as a run tells",
                "tile the loop, and pack its inner part");
  const auto loops = std::ranges::count(fill.ranges(), AxisType::Reduce, axisType);
  if (loops != 1)
    return fail(Diag::BadOpt, "the buffer is filled along " + std::to_string(loops) + " loops of reductions, not one",
                "tile the reduce axis and pack its inner part");
  SlotArg arg = bufferOf(fill).argAs<SlotArg>();
  arg.ring = static_cast<uint8_t>(stages);
  return Applied(withBuffer(g, sink, fill, arg));
}

}  // namespace

UOp withBuffer(Graph& g, UOp root, UOp fill, const SlotArg& arg) {
  UOp old = bufferOf(fill), buffer = g.make(Op::Buffer, old.dtype(), old.src(), arg);
  return substitute(g, root, {&old, 1}, {&buffer, 1});
}

bool needsOthers(UOp n) {
  const auto isShared = [](UOp r) { return isThreadOfGroup(axisType(r)); };
  return n.op() == Op::Fill || (n.op() == Op::Reduce && std::ranges::any_of(n.src().subspan(1), isShared));
}

Result<Applied> applySpread(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(UOp fill, pickStage(sink, args.axis, caps));
  SVOD_CHECK(checkElementwise(fill));
  SVOD_CHECK(checkOwner(fill));
  const int64_t width = args.amount, bytes = width * byteSize(fill.dtype());
  if (width < 1 || (width > 1 && bytes != 4 && bytes != 8 && bytes != 16))
    return fail(Diag::BadOpt, "threads copy single elements, or 4, 8 or 16 bytes at once",
                std::to_string(width) + " elements are " + std::to_string(bytes) + " bytes");
  const std::span<const UOp> closed = fill.src().subspan(1);
  if (width > 1 && (constExtent(closed.back()).value_or(1) % width != 0 || !areNeighbours(fill)))
    return fail(Diag::BadOpt, std::to_string(width) + " neighbours of the buffer are not neighbours in memory",
                "order its axes in pack as the operand has them, or spread single elements");
  return Applied(dealt(g, sink, fill, closed, width));
}

UOp spreadLoneFills(Graph& g, UOp sink, const Caps& caps) {
  const int64_t threads = caps.workgroups ? workgroupThreads(sink) : 1;
  if (threads <= 1) return sink;
  std::vector<UOp> buffers;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Fill) buffers.push_back(bufferOf(n));
  for (UOp buffer : buffers) {
    const std::vector<UOp> nodes = toposort(sink);
    const auto fill = std::ranges::find_if(nodes, [&](UOp n) { return n.op() == Op::Fill && bufferOf(n) == buffer; });
    const std::vector<UOp> loops = loneLoops(sink, *fill, threads, caps.gpu);
    if (loops.empty()) continue;
    int64_t width = loops.size() + 1 == fill->srcCount() ? widestCopy(*fill) : 1;
    while (constExtent(loops.back()).value_or(1) % width != 0) width /= 2;
    if (width * byteSize(fill->dtype()) < 4) width = 1;
    const UOp shared = dealt(g, sink, *fill, loops, width);
    if (bytesInMemory(shared) <= caps.sharedBytes) sink = shared;  // rings have room for all threads of a last round
  }
  return sink;
}

Result<Applied> applySwizzle(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(UOp fill, pickStage(sink, args.axis, caps));
  if (!isSwizzle(args.amount))
    return fail(Diag::BadOpt, "no swizzle has rows of " + std::to_string(args.amount) + " bytes",
                "use 32, 64, .. 1024");
  UOp last = fill.src(fill.srcCount() - 1);
  if (maxExtent(last) * byteSize(fill.dtype()) != args.amount)
    return fail(Diag::BadOpt,
                "rows of the buffer have " + std::to_string(maxExtent(last) * byteSize(fill.dtype())) + " bytes",
                "tile its last axis, so that a row is as long as the swizzle");
  SlotArg arg = bufferOf(fill).argAs<SlotArg>();
  arg.swizzle = swizzleOf(args.amount);
  return Applied(withBuffer(g, sink, fill, arg));
}

Result<Applied> applyAsync(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(UOp fill, pickStage(sink, args.axis, caps));
  if (!hasGpuOp("cp_async16", caps.gpu.family, caps.gpu.generation))
    return fail(Diag::BadOpt, "the target has no copies that run on", "sm_80 and later have");
  return turningBuffer(g, sink, fill, args.amount);
}

Result<Applied> applyBulk(Graph& g, UOp sink, const OptOp& opt, const Caps& caps) {
  const auto& args = std::get<AxisAmount>(opt.args);
  SVOD_TRY(UOp fill, pickStage(sink, args.axis, caps));
  if (!hasGpuOp("bulk_load", caps.gpu.family, caps.gpu.generation))
    return fail(Diag::BadOpt, "the target has no bulk copies", "sm_90 and later have");
  if (!bulkBoxOf(sink, fill))
    return fail(Diag::BadOpt, "the buffer is no box of a tensor that a bulk copy takes",
                "it copies an operand that is read nowhere else, in rows of 16 bytes or more, no longer than a swizzle "
                "of 128, and whole 1024 bytes; others take async and spread");
  SVOD_TRY(Applied turning, turningBuffer(g, sink, fill, args.amount));
  if (bytesInMemory(turning.sink) + kLocalAlignment > caps.sharedBytes)
    return fail(Diag::BadOpt, "no memory of a workgroup is left for the mbarriers of the ring", "use fewer stages");
  return turning;
}

Result<Applied> applyRaster(Graph& g, UOp sink, const OptOp& opt, const Caps&) {
  const auto& args = std::get<TwoAxesAmount>(opt.args);
  if (args.outer == args.inner) return fail(Diag::BadOpt, "raster takes two axes", "write raster(0,1,8)");
  SVOD_TRY(Axis a, pickAxis(sink, args.outer, kOutput, {AxisType::Global}));
  SVOD_TRY(Axis b, pickAxis(sink, args.inner, kOutput, {AxisType::Global}));
  const std::optional<int64_t> rows = constExtent(a.range), columns = constExtent(b.range);
  if (!rows || !columns) return fail(Diag::BadOpt, "raster of an axis of symbolic extent");
  if (args.amount < 2 || args.amount >= *rows || *columns < 2)
    return fail(Diag::BadOpt,
                "blocks of " + std::to_string(args.amount) + " rows order a grid of " + std::to_string(*rows) + " x " +
                    std::to_string(*columns) + " as it is",
                "use fewer rows than there are, and at least 2");
  if (closersOf(sink, a.range) != closersOf(sink, b.range))
    return fail(Diag::BadOpt, "the two axes do not belong to the same loop nests", kAxesHere);
  UOp both = g.range(g.index(*rows * *columns), a.range.argAs<AxisArg>().id, AxisType::Global),
      band = g.index(args.amount);
  UOp size = g.index(args.amount * *columns), at = g.alu(Op::Floormod, {both, size});
  UOp first = g.alu(Op::Mul, {g.alu(Op::Floordiv, {both, size}), band});
  UOp height = *rows % args.amount == 0 ? band : g.alu(Op::Min, {band, g.alu(Op::Sub, {g.index(*rows), first})});
  Reloop loops[] = {{a.range, g.alu(Op::Add, {first, g.alu(Op::Floormod, {at, height})}), {both}},
                    {b.range, g.alu(Op::Floordiv, {at, height}), {}}};
  return Applied(simplify(g, reloop(g, sink, loops)), {{MadeLoop::How::Join, both, {a.range, b.range}}});
}

}  // namespace svod
