// The table of opts.
#include "opts/dot_opt.h"
#include "opts/local_buffer_opts.h"
#include "opts/nest_opts.h"
#include "opts/operand_opts.h"
#include "opts/opt.h"
#include "opts/persist_opt.h"
#include "opts/proposals.h"
#include "opts/split_opts.h"
#include "opts/stage_opts.h"
#include "opts/stash_opt.h"
#include "opts/tensor_core_opt.h"

namespace svod {

namespace {

using enum OptKind;
constexpr OptShape kAmount = OptShape::AxisAmount, kList = OptShape::AxisList;

constexpr OptInfo kOpts[] = {
    {Upcast, "upcast", "upcast(axis,n)", "n copies of each value along an output or fill axis: the register tile",
     kAmount, applyUpcast, proposeUpcast},
    {Vector, "vector", "vector(axis,lanes)",
     "the axis in steps of `lanes`, computed as vectors; a reduce keeps lanes of partial results", kAmount, applyVector,
     proposeVector},
    {Unroll, "unroll", "unroll(axis,n)", "n iterations of a reduce axis written out", kAmount, applyUnroll,
     proposeUnroll},
    {Acc, "acc", "acc(axis,n)", "n independent accumulators along a reduce axis, combined at the end", kAmount,
     applyAcc, proposeAcc},
    {Dot, "dot", "dot(axis,n)",
     "products along a reduce axis in groups, each summed up by one instruction: of bytes n = 4, of bf16 n = 2",
     kAmount, applyDot, proposeDot},
    {Tc, "tc", "tc(core,m,n,k)",
     "a sum of products over axis k of rows m and columns n in tiles of a tensor core of the target, one warp each, or "
     "of "
     "a tile unit of a processor",
     OptShape::CoreAxes, applyTensorCore, proposeTc},
    {Tile, "tile", "tile(axis,n)", "two loops, the inner of n iterations; the inner axis follows the outer one",
     kAmount, applyTile, proposeTile},
    {PadTo, "padto", "padto(axis,m)", "the extent rounded up to a multiple of m, the rest masked", kAmount, applyPadTo,
     proposePadTo},
    {Merge, "merge", "merge(outer,inner)", "one loop through two adjacent axes", kList, applyMerge, proposeMerge},
    {Pitch, "pitch", "pitch(outer,inner,n)",
     "one loop through two adjacent output axes as if the inner one had n iterations; the others are masked",
     OptShape::TwoAxesAmount, applyPitch, proposePitch},
    {Order, "order", "order(axis,...)",
     "the named axes of one nest take the places they hold together in this order, outermost first", kList, applyOrder,
     proposeOrder},
    {Thread, "thread", "thread(axis,n)",
     "tiles of n iterations for the worker threads, outermost; a second one joins the first", kAmount, applyThread,
     proposeThread},
    {Pack, "pack", "pack(slot,axis,...)",
     "the part of an operand these axes read, copied in this axis order to a local buffer where its other "
     "axes are open",
     OptShape::Pack, applyPack, proposePack},
    {Window, "window", "window(slot,axis,...)",
     "pack for operands read at sums of an output and a reduce axis: each element under the windows is copied once",
     OptShape::Pack, applyWindow, proposeWindow},
    {Share, "share", "share(axis,axis,...)",
     "values computed along the first axis and again along the others, held in a local buffer", kList, applyShare,
     proposeShare},
    {KBlock, "kblock", "kblock(axis,out,...)",
     "a reduce axis becomes the outermost loop around these output axes; partial results wait in a local buffer", kList,
     applyKBlock, proposeKBlock},
    {Hold, "hold", "hold(axis,loop)",
     "what a fill axis fills, or a reduce axis folds, gets a buffer dim for a loop around it and is computed before "
     "that "
     "loop",
     kList, applyHold, proposeHold},
    {Prefetch, "prefetch", "prefetch(slot,axis,n)",
     "vector loads of an operand, or of its copy, in this loop also fetch what lies n elements further on",
     OptShape::SlotAxisAmount, applyPrefetch, proposePrefetch},
    {Stream, "stream", "stream(slot)", "an output that is written past the caches, where its vectors are aligned",
     OptShape::Param, applyStream, proposeStream},
    {Global, "global", "global(axis,...)", "output axes as GPU grid dims", kList, applyGlobal, proposeGlobal},
    {Local, "local", "local(axis,n)", "n threads of a workgroup along an output axis", kAmount, applyLocal,
     proposeLocal},
    {Group, "group", "group(axis,n)",
     "n threads of a workgroup share a reduce axis, neighbours taking neighbouring elements", kAmount, applyGroup,
     proposeGroup},
    {GroupTop, "grouptop", "grouptop(axis,n)",
     "n threads of a workgroup share a reduce axis, each taking one contiguous chunk", kAmount, applyGroup,
     proposeGroupTop},
    {Swap, "swap", "swap(a,b)", "exchanges two grid axes", kList, applySwap, proposeSwap},
    {NoLocals, "nolocals", "nolocals", "no workgroup axes in this kernel; local and group after it are errors",
     OptShape::None, applyNoLocals, proposeNoLocals},
    {Spread, "spread", "spread(axis,n)",
     "the threads of a workgroup fill a local buffer together, each n neighbours at once (1, or 4, 8 or 16 bytes)",
     kAmount, applySpread, proposeSpread},
    {Swizzle, "swizzle", "swizzle(axis,bytes)",
     "rows of a local buffer, of 32, 64, .. 1024 bytes, with their pieces in other places, so that columns spare its "
     "banks",
     kAmount, applySwizzle, proposeSwizzle},
    {Async, "async", "async(axis,n)",
     "a copy that pack made inside of a reduce is filled n - 1 iterations ahead, in a ring of n buffers", kAmount,
     applyAsync, proposeAsync},
    {Bulk, "bulk", "bulk(axis,n)",
     "the same of a box of a tensor that hardware copies as a whole, started by one thread, in place of async and "
     "spread",
     kAmount, applyBulk, proposeBulk},
    {Raster, "raster", "raster(a,b,n)",
     "two grid axes as one that walks n rows of a for each column of b, so that workgroups of one time share operands",
     OptShape::TwoAxesAmount, applyRaster, proposeRaster},
    {Persist, "persist", "persist(axis,n)",
     "n workgroups stay and compute the tiles of the only grid axis one after the other; 0: one for each unit", kAmount,
     applyPersist, proposePersist},
    {Stash, "stash", "stash(slot)",
     "the tile of an output that threads compute goes through memory that they share, and out in rows of 16 bytes per "
     "thread",
     OptShape::Param, applyStash, proposeStash},
};

constexpr bool inEnumOrder() {
  for (size_t i = 0; i < std::size(kOpts); ++i)
    if (static_cast<size_t>(kOpts[i].kind) != i) return false;
  return true;
}
static_assert(inEnumOrder());

}  // namespace

const OptInfo& info(OptKind kind) { return kOpts[static_cast<size_t>(kind)]; }
std::span<const OptInfo> allOpts() { return kOpts; }

}  // namespace svod
