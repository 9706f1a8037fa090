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

// A stage whose elements a thread computes without the others.
Status checkElementwise(UOp fill) {
  const std::span<const UOp> closed = fill.src().subspan(1);
  for (UOp r : closed)
    if (axisType(r) != AxisType::Loop || !constExtent(r))
      return fail(Diag::BadOpt, "a loop of the buffer is expanded already", "put spread before its vector and upcast");
  for (UOp n : toposort(fill.src(0)))
    if (needsOthers(n) && std::ranges::any_of(closed, [&](UOp r) { return n.dependsOn(r); }))
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

/// The buffer of a fill as a ring.
Result<Applied> turningBuffer(Graph& g, UOp sink, UOp fill, int64_t stages) {
  if (stages < 2 || stages > kMostStages)
    return fail(Diag::BadOpt, "a ring has 2 to 8 stages", "three are a good start");
  SVOD_CHECK(checkOwner(fill));
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
  if (width > 1 && (*constExtent(closed.back()) % width != 0 || !areNeighbours(fill)))
    return fail(Diag::BadOpt, std::to_string(width) + " neighbours of the buffer are not neighbours in memory",
                "order its axes in pack as the operand has them, or spread single elements");
  const Dealt dealt = dealtToThreads(g, closed, width, nextRangeId(sink));
  std::vector<Reloop> loops;
  for (size_t i = 0; i < closed.size(); ++i)
    loops.push_back({closed[i], dealt.at[i], i == 0 ? dealt.ranges : std::vector<UOp>()});
  return Applied(simplify(g, reloop(g, sink, loops)));
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
  int64_t bytes = kLocalAlignment;  // of mbarriers
  for (UOp n : toposort(turning.sink))
    if (n.op() == Op::Fill) bytes += bytesInMemory(n, workgroupThreads(turning.sink));
  if (bytes > caps.sharedBytes)
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
