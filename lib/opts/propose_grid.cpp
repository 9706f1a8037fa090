// Loops as the grid and the workgroups of a GPU.
#include <algorithm>
#include <array>

#include "opts/legality.h"
#include "opts/persist_opt.h"
#include "opts/proposals.h"

namespace svod {

namespace {

constexpr auto kThreads = std::to_array<int64_t>({2, 4, 8, 16, 32, 64, 128, 256, 512, 1024});

std::vector<OptOp> groupsAlong(const KernelFacts& kernel, const LoopNames& names, OptKind kind, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.workgroups) return moves;
  for (UOp r : loopsIn(kernel, kReduce, {AxisType::Reduce})) {
    const bool isInReduce = std::ranges::any_of(kernel.closersOf(r), [](UOp closer) {
      return std::ranges::any_of(closer.ranges(), [](UOp around) {
        const AxisType type = axisType(around);
        return type == AxisType::Reduce || type == AxisType::Unroll || type == AxisType::Group ||
               type == AxisType::Spread;
      });
    });
    if (!isInReduce && mayFoldInAnyOrder(kernel, r, caps))
      addAmounts(moves, kind, refTo(kernel, names, r), r, {kThreads, caps.maxLocal});
  }
  return moves;
}

}  // namespace

std::vector<OptOp> proposeGlobal(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  std::vector<UOp> loops = loopsIn(kernel, kOutput, {AxisType::Loop}, 1);
  std::erase_if(loops, [&](UOp r) {
    return std::ranges::any_of(
        kernel.nodes, [&](UOp n) { return n.op() == Op::End && std::ranges::find(n.src(), r) == n.src().end(); });
  });
  if (!caps.workgroups || loops.empty()) return moves;
  for (UOp r : loops) moves.push_back({OptKind::Global, AxisList{{refTo(kernel, names, r)}}});
  const auto addPrefixes = [&](const std::vector<UOp>& of) {
    for (size_t n = 2; n <= of.size(); ++n)
      moves.push_back({OptKind::Global, AxisList{refsTo(kernel, names, std::span(of).first(n))}});
  };
  addPrefixes(loops);
  std::vector<UOp> longer = loops;
  std::erase_if(longer, [](UOp r) { return r.src(0).isConst(1); });
  if (longer.size() < loops.size()) addPrefixes(longer);
  return moves;
}

std::vector<OptOp> proposeLocal(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (!caps.workgroups) return moves;
  for (UOp r : loopsIn(kernel, kOutput, {AxisType::Global, AxisType::Loop}))
    addAmounts(moves, OptKind::Local, refTo(kernel, names, r), r, {kThreads, caps.maxLocal});
  return moves;
}

std::vector<OptOp> proposeGroup(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  return groupsAlong(kernel, names, OptKind::Group, caps);
}

std::vector<OptOp> proposeGroupTop(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  return groupsAlong(kernel, names, OptKind::GroupTop, caps);
}

std::vector<OptOp> proposePersist(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  const Result<UOp> axis = axisToPersist(kernel.sink);
  if (!caps.workgroups || !axis) return moves;
  for (int64_t stay : {int64_t{2}, int64_t{caps.gpu.units}, int64_t{2} * caps.gpu.units})
    if (stay > 0 && maxExtent(*axis) > stay)
      moves.push_back({OptKind::Persist, AxisAmount{refTo(kernel, names, *axis), stay == caps.gpu.units ? 0 : stay}});
  return moves;
}

std::vector<OptOp> proposeSwap(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  std::vector<OptOp> moves;
  const std::vector<UOp> grid = loopsIn(kernel, kOutput, {AxisType::Global});
  for (size_t i = 0; i < grid.size(); ++i)
    for (size_t j = i + 1; j < grid.size(); ++j)
      moves.push_back({OptKind::Swap, AxisList{{refTo(kernel, names, grid[i]), refTo(kernel, names, grid[j])}}});
  return moves;
}

std::vector<OptOp> proposeNoLocals(const KernelFacts& kernel, const LoopNames&, const Caps& caps) {
  const bool hasGroup =
      std::ranges::any_of(kernel.nodes, [](UOp n) { return n.op() == Op::Range && isThreadOfGroup(axisType(n)); });
  if (!caps.workgroups || hasGroup) return {};
  return {{OptKind::NoLocals, NoArgs{}}};
}

}  // namespace svod
