// Copies and results that a workgroup shares, and the order of its grid.
#include <algorithm>

#include "facts/local_buffers.h"
#include "ir/gpu_op.h"
#include "ir/local_memory.h"
#include "opts/legality.h"
#include "opts/proposals.h"
#include "opts/stage_opts.h"
#include "opts/stash_opt.h"

namespace svod {

namespace {

constexpr int64_t kProposedStages[] = {2, 3, 4, 6, kMostStages};

// The first loop of each local buffer that a workgroup fills element by element.
std::vector<UOp> stagesOf(const KernelFacts& kernel) {
  std::vector<UOp> first;
  for (UOp fill : kernel.fills) {
    const auto isPlain = [](UOp r) { return axisType(r) == AxisType::Loop; };
    const bool isOwned = std::ranges::any_of(fill.ranges(), [](UOp r) { return isThreadOfGroup(axisType(r)); });
    if (fill.argAs<ReduceArg>().op != Op::Store || isOwned) continue;
    if (!std::ranges::all_of(fill.src().subspan(1), isPlain) || kernel.closersOf(fill.src(1)).size() != 1) continue;
    const std::vector<UOp> below = toposort(fill.src(0));
    const auto closesOwn = [&](UOp n) {
      return needsOthers(n) && std::ranges::any_of(fill.src().subspan(1), [&](UOp r) { return n.dependsOn(r); });
    };
    if (std::ranges::none_of(below, closesOwn)) first.push_back(fill.src(1));
  }
  return first;
}

UOp fillAlong(const KernelFacts& kernel, UOp range) { return kernel.closersOf(range)[0]; }

}  // namespace

std::vector<OptOp> proposeSpread(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.workgroups) return moves;
  for (UOp r : stagesOf(kernel)) {
    UOp fill = fillAlong(kernel, r);
    const int64_t last = constExtent(fill.src(fill.srcCount() - 1)).value_or(1);
    std::vector<int64_t> widths{1};
    for (int64_t bytes : {4, 8, 16}) {
      const int64_t width = bytes / byteSize(fill.dtype());
      if (width > 1 && width <= widestCopy(fill) && last % width == 0) widths.push_back(width);
    }
    for (int64_t width : widths) moves.push_back({OptKind::Spread, AxisAmount{refTo(kernel, names, r), width}});
  }
  return moves;
}

std::vector<OptOp> proposeSwizzle(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.workgroups) return moves;
  for (UOp r : stagesOf(kernel)) {
    UOp fill = fillAlong(kernel, r);
    const int64_t bytes = maxExtent(fill.src(fill.srcCount() - 1)) * byteSize(fill.dtype());
    if (isSwizzle(bytes)) moves.push_back({OptKind::Swizzle, AxisAmount{refTo(kernel, names, r), bytes}});
  }
  return moves;
}

std::vector<OptOp> proposeAsync(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.workgroups || !hasGpuOp("cp_async16", caps.gpu.family, caps.gpu.generation)) return moves;
  for (UOp r : stagesOf(kernel)) {
    UOp fill = fillAlong(kernel, r), value = fill.src(0).src(1);
    const auto loops = std::ranges::count_if(fill.ranges(), [](UOp o) { return axisType(o) == AxisType::Reduce; });
    if (loops != 1 || value.op() != Op::Load || storageOf(value.src(0)).op() != Op::Param) continue;
    for (int64_t stages : kProposedStages)
      moves.push_back({OptKind::Async, AxisAmount{refTo(kernel, names, r), stages}});
  }
  return moves;
}

std::vector<OptOp> proposeBulk(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.workgroups || !hasGpuOp("bulk_load", caps.gpu.family, caps.gpu.generation)) return moves;
  for (UOp r : stagesOf(kernel)) {
    UOp fill = fillAlong(kernel, r);
    if (std::ranges::count(fill.ranges(), AxisType::Reduce, axisType) != 1 || !bulkBoxOf(kernel.sink, fill)) continue;
    for (int64_t stages : kProposedStages)
      moves.push_back({OptKind::Bulk, AxisAmount{refTo(kernel, names, r), stages}});
  }
  return moves;
}

std::vector<OptOp> proposeRaster(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  const std::vector<UOp> grid = loopsIn(kernel, kOutput, {AxisType::Global});
  for (UOp a : grid)
    for (UOp b : grid)
      for (int64_t rows : {2, 4, 8})
        if (a != b && constExtent(a) && constExtent(b) && rows < maxExtent(a))
          moves.push_back({OptKind::Raster, TwoAxesAmount{refTo(kernel, names, a), refTo(kernel, names, b), rows}});
  return moves;
}

std::vector<OptOp> proposeStash(const KernelFacts& kernel, const LoopNames&, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.workgroups) return moves;
  for (uint32_t slot : slotsWritten(kernel))
    if (nestToStash(kernel.sink, slot)) moves.push_back({OptKind::Stash, ParamSlot{slot}});
  return moves;
}

}  // namespace svod
