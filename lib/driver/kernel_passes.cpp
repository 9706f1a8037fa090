#include "driver/kernel_passes.h"

#include <algorithm>

#include "choose/choose.h"
#include "choose/pieces.h"
#include "driver/launched.h"
#include "driver/tuned_opts.h"
#include "ir/verify.h"
#include "ir/verify_access.h"
#include "lower/bound_exponents.h"
#include "lower/expand.h"
#include "lower/gate_copies.h"
#include "lower/gpu_dims.h"
#include "lower/join_barriers.h"
#include "lower/line_stores.h"
#include "lower/matrix_loads.h"
#include "lower/neighbours.h"
#include "lower/reduce_rests.h"
#include "lower/rings.h"
#include "lower/short_loops.h"
#include "lower/strided_loads.h"
#include "lower/strided_stores.h"
#include "lower/swizzle.h"
#include "lower/tile_rests.h"
#include "lower/warpgroup_sums.h"
#include "lower/whole_sectors.h"
#include "opts/replay.h"
#include "opts/split_ranges.h"
#include "opts/stage_opts.h"
#include "pass/rule_pass.h"
#include "schedule/graph_passes.h"
#include "symbolic/guard_loads.h"
#include "symbolic/late.h"
#include "symbolic/symbolic.h"
#include "target/target.h"

namespace svod {

namespace {

/// After whatever simplifies indices.
Result<UOp> guarded(Result<UOp> root, PassContext& cx) {
  if (root) return guardLoads(cx.graph, *root);
  return root;
}

Result<UOp> symbolic(UOp root, PassContext& cx) { return guarded(runRules(root, cx, kernelRules(cx.numerics)), cx); }
Result<UOp> loopsOfPieces(UOp root, PassContext& cx) {
  const auto& job = cx.data.get<KernelJob>();
  return job.optLevel == 0 ? root : guarded(splitPieces(cx.graph, root, job.caps), cx);
}
Result<UOp> loopsOfDigits(UOp root, PassContext& cx) { return guarded(splitRanges(cx.graph, root), cx); }
Result<UOp> exponentsOfMaxima(UOp root, PassContext& cx) { return boundExponents(cx.graph, root, cx.numerics); }
Result<UOp> symbolicLate(UOp root, PassContext& cx) { return guarded(runRules(root, cx, lateRules(cx.numerics)), cx); }

Result<UOp> applyOpts(UOp root, PassContext& cx) {
  auto& job = cx.data.get<KernelJob>();
  const UOp before = root;
  job.choice = {patternOf(root), {}, {}};
  if (job.requested) {
    for (const OptOp& opt : *job.requested) job.choice.opts.push_back({opt, "as requested"});
  } else if (job.optLevel > 0) {
    std::optional<Choice> tuned = tunedChoice(cx.graph, root, job.tuned, job.caps, job.mostInstructions, job.passed);
    job.choice = tuned ? std::move(*tuned) : choose(cx.graph, root, job.caps);
  }
  const std::vector<OptOp> opts = optsOf(job.choice);
  SVOD_TRY(root, guarded(applyOpts(cx.graph, root, opts, job.caps), cx));
  if (job.requested) SVOD_CHECK(checkEffects(root, opts));
  job.unopted = before, job.optimized = root;
  return root;
}

Result<UOp> constantLayout(UOp root, PassContext& cx) {
  auto& job = cx.data.get<KernelJob>();
  if (job.optLevel == 0 && !job.requested) return root;
  return spreadLoneFills(cx.graph, layOutConstants(cx.graph, root, job.caps.constants, job.orders, job.layouts),
                         job.caps);
}

Result<UOp> shortLoops(UOp root, PassContext& cx) { return guarded(shortenLoops(cx.graph, root), cx); }
Result<UOp> tileRests(UOp root, PassContext& cx) { return guarded(splitTileRests(cx.graph, root), cx); }
Result<UOp> reduceRests(UOp root, PassContext& cx) { return guarded(splitReduceRests(cx.graph, root), cx); }
Result<UOp> expandRanges(UOp root, PassContext& cx) {
  const Caps& caps = cx.data.get<KernelJob>().caps;
  return guarded(expand(cx.graph, root, caps.workgroups ? &caps.gpu : nullptr), cx);
}
Result<UOp> groupReduces(UOp root, PassContext& cx) {
  return guarded(shareGroupReduces(cx.graph, root, cx.data.get<KernelJob>().caps.gpu), cx);
}
Result<UOp> copiesThatAreFilled(UOp root, PassContext& cx) { return guarded(gateCopies(cx.graph, root), cx); }
Result<UOp> gridIndices(UOp root, PassContext& cx) {
  return guarded(lowerGpuDims(cx.graph, root, cx.data.get<KernelJob>().caps.gpu.limits), cx);
}
Result<UOp> ringsOfCopies(UOp root, PassContext& cx) {
  SVOD_TRY(root, guarded(turnRings(cx.graph, root, cx.data.get<KernelJob>().caps.gpu), cx));
  SVOD_CHECK(checkFills(root));
  return root;
}
Result<UOp> fencesOfProducts(UOp root, PassContext& cx) { return fenceProducts(cx.graph, root); }
Result<UOp> fewerBarriers(UOp root, PassContext& cx) { return joinBarriers(cx.graph, root); }
Result<UOp> neighbours(UOp root, PassContext& cx) { return joinNeighbours(cx.graph, pairMatrixLoads(cx.graph, root)); }
Result<UOp> wholeSectors(UOp root, PassContext& cx) { return fillSectors(cx.graph, root); }
Result<UOp> swizzles(UOp root, PassContext& cx) { return swizzleBuffers(cx.graph, root); }
Result<UOp> merge(UOp root, PassContext& cx) { return mergeLoops(cx.graph, root); }
Result<UOp> contiguousLoads(UOp root, PassContext& cx) { return loadStrides(cx.graph, root); }
Result<UOp> contiguousStores(UOp root, PassContext& cx) { return storeStrides(cx.graph, root); }
Result<UOp> storesByLine(UOp root, PassContext& cx) { return storeLines(cx.graph, root); }
/// Addresses are still those of elements here; the machine's integers come with legalization.
Result<UOp> legalizeKernel(UOp root, PassContext& cx) {
  if (cx.options.checkAccesses) SVOD_CHECK(checkAccesses(root, Stage::Lowered, 0));
  cx.data.get<KernelJob>().launched = launchedIn(root);
  return legalize(cx.graph, root, cx.data.get<KernelJob>().legalize);
}

constexpr Pass kKernelPasses[] = {
    // First: what is chosen below depends on strides, and these are seen in simplified indices only.
    {"symbolic", "fold, cancel and bound index math; closed forms for counting reductions", Stage::Kernel,
     Stage::Kernel, symbolic, true},
    // From simplified indices it is seen where they bend. Before counters are taken apart: a piece may need no
    // division.
    {"split-pieces", "a loop along which a stream reads in pieces becomes a loop for each of them", Stage::Kernel,
     Stage::Kernel, loopsOfPieces, true},
    // From simplified indices it is seen what a counter is divided by, and opts see the strides along both loops.
    {"split-ranges", "a loop whose counter is taken apart by divisions becomes a loop for each part", Stage::Kernel,
     Stage::Kernel, loopsOfDigits, true},
    // While a maximum and what is subtracted from it are the same but for their loops.
    {"bound-exponents", "exponents that are differences from a maximum say that they are not above 0", Stage::Kernel,
     Stage::Kernel, exponentsOfMaxima, true},
    // While loops are still ranges: an opt changes a range and what is open in it.
    {"apply-opts", "replay the given opts, or choose them", Stage::Kernel, Stage::Kernel, applyOpts, true},
    // Knows the order of the loops now, and changes indices into weights before these are copied per lane.
    {"constant-layout", "constant operands in the order in which the loops read them", Stage::Kernel, Stage::Kernel,
     constantLayout, true},
    // Knows the loops of tiles, and leaves their register tiles to the next pass.
    {"short-loops", "loops of tiles end where an axis does whose size only a run knows", Stage::Kernel, Stage::Kernel,
     shortLoops, true},
    // The tile is a range with all of its rows here, and what is computed for one of them stands there once.
    {"tile-rests", "smaller tiles for what is left of an axis whose size only a run knows", Stage::Kernel,
     Stage::Kernel, tileRests, true},
    // Of each of these tiles, where it sums up in lanes.
    {"reduce-rests", "whole steps of sums without masks, and what is left behind them", Stage::Kernel, Stage::Kernel,
     reduceRests, true},
    // The last over ranges that stand for many values; from here on a value is a scalar or a vector.
    {"expand", "ranges to lanes and copies; reductions to accumulators; fills to local buffers", Stage::Kernel,
     Stage::Lowered, expandRanges},
    // Reductions are loops with accumulators now, so that two of them can stand in one.
    {"merge-loops", "one loop for reductions that can share it", Stage::Lowered, Stage::Lowered, merge},
    // Copies and lanes have constants where ranges stood, and merged loops share what was computed in each.
    {"symbolic-late", "fold what expansion made constant", Stage::Lowered, Stage::Lowered, symbolicLate, true},
    // From simplified indices it is seen which loads lie within a few vectors, and which stores are neighbours.
    {"strided-loads", "gathers within a few vectors, and transposed blocks, as contiguous loads and shuffles",
     Stage::Lowered, Stage::Lowered, contiguousLoads, true},
    {"strided-stores",
     "stores that fill the gaps of each other, and transposed blocks, as shuffles and contiguous stores",
     Stage::Lowered, Stage::Lowered, contiguousStores, true},
    // After strided-stores, which decides what the vectors that are stored are.
    {"line-stores", "stores whose lanes go on in the next line as two masked ones of neighbours", Stage::Lowered,
     Stage::Lowered, storesByLine, true},
    // Last: what it makes is what targets emit, in which no pass would know its patterns again.
    {"legalize", "polynomials, small floats, guarded integer ops, index width", Stage::Lowered, Stage::Lowered,
     legalizeKernel},
};

consteval Pass shared(std::string_view name) { return *std::ranges::find(kKernelPasses, name, &Pass::name); }

/// Those above, but for what knows vectors in memory, and what a grid needs.
constexpr Pass kGridKernelPasses[] = {
    shared("symbolic"),
    shared("split-ranges"),
    shared("apply-opts"),
    shared("constant-layout"),
    // While a reduction is one node with its ranges: the threads that share it each take some of them.
    {"share-group-reduces", "reductions of a workgroup as partial results in memory that it shares", Stage::Kernel,
     Stage::Kernel, groupReduces},
    // While loads name what they read.
    {"gate-copies", "threads behind the end of an axis read nothing that no other has filled", Stage::Kernel,
     Stage::Kernel, copiesThatAreFilled},
    shared("expand"),
    // Before loops are merged: what becomes a hardware index is no loop.
    {"grid-indices", "axes of the grid and of workgroups as hardware indices; barriers", Stage::Lowered, Stage::Lowered,
     gridIndices},
    shared("merge-loops"),
    // In the loop that merged reductions share.
    {"copy-rings", "copies to local memory some iterations ahead of the loop that reads them", Stage::Lowered,
     Stage::Lowered, ringsOfCopies},
    // Rings have barriers of their own.
    {"join-barriers", "barriers of one loop that do not wait for each other as one", Stage::Lowered, Stage::Lowered,
     fewerBarriers, true},
    // Of all barriers that are left.
    {"fence-products", "what was copied to local memory is shown to the products of warpgroups", Stage::Lowered,
     Stage::Lowered, fencesOfProducts},
    shared("symbolic-late"),
    // From simplified indices it is seen which elements lie side by side.
    {"join-neighbours", "accesses of neighbours as vectors, loads of matrices in pairs", Stage::Lowered, Stage::Lowered,
     neighbours, true},
    // Of vectors it is seen which sectors the lanes of a warp fill together.
    {"whole-sectors", "words of results that lanes of a warp exchange, so that a store fills whole sectors",
     Stage::Lowered, Stage::Lowered, wholeSectors, true},
    // No rule knows these indices again. Products of warpgroups find what they multiply in these places alone.
    {"swizzle", "places in local memory that spare its banks", Stage::Lowered, Stage::Lowered, swizzles},
    shared("legalize"),
};

}  // namespace

std::span<const Pass> loopKernelPasses() { return kKernelPasses; }
std::span<const Pass> gridKernelPasses() { return kGridKernelPasses; }
std::span<const Pass> kernelPasses(const Target& target) {
  return target.hasGrid() ? gridKernelPasses() : loopKernelPasses();
}
std::array<std::span<const Pass>, 2> passTables(const Target& target) { return {graphPasses(), kernelPasses(target)}; }

}  // namespace svod
