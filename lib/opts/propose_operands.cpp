// How operands come in and results go out: prefetching, stores past the caches, and instructions for whole products.
#include <algorithm>
#include <set>

#include "facts/operand_walks.h"
#include "facts/reduces.h"
#include "ir/tensor_core_form.h"
#include "opts/legality.h"
#include "opts/proposals.h"

namespace svod {

namespace {

// The parameter that a load reads, itself or through a local copy.
UOp operandOf(const Access& access) {
  const UOp storage = storageOf(access.node.src(0));
  return storage.op() == Op::Fill ? copiedBy(storage) : storage;
}

// How many factors a dot product takes at once along a loop: by what is summed up in all reduces that close it.
int64_t groupAlong(const KernelFacts& kernel, UOp range, const Caps& caps) {
  int64_t group = 0;
  for (UOp reduce : kernel.closersOf(range)) {
    if (reduce.argAs<ReduceArg>().op != Op::Add) return 0;
    if (std::ranges::any_of(reduce.src().subspan(1), [](UOp r) { return isExpanded(axisType(r)); })) return 0;
    if (isFloat(reduce.dtype()) && caps.numerics == Numerics::Strict) return 0;
    for (UOp n : toposort(reduce.src(0)))
      if (n.op() == Op::Cast && sumsDots(n.src(0).dtype(), reduce.dtype())) group = dotGroup(n.src(0).dtype());
  }
  return group;
}

bool isFilled(UOp loop, int64_t size) {
  const int64_t extent = maxExtent(loop);
  return checkPadding(extent, (extent + size - 1) / size * size).has_value();
}

// The loops of the result along which a core could take its rows and columns, for a sum along k.
std::vector<std::pair<UOp, UOp>> sidesOf(UOp sum, std::span<const UOp> outputs, const TensorCore& core) {
  std::vector<std::pair<UOp, UOp>> sides;
  if (sum.op() != Op::Reduce || sum.argAs<ReduceArg>().op != Op::Add) return sides;
  UOp term = sum.src(0);
  if (term.op() == Op::Where && term.src(2).isConst() && term.src(2).constant() == Scalar::of(sum.dtype(), 0))
    term = term.src(1);  // a tile of k masks its last step
  const std::optional<Factors> factors = factorsOfTerm(term);
  if (!factors || factors->x.dtype() != core.in || factors->y.dtype() != core.in || sum.dtype() != core.out)
    return sides;
  const auto isOf = [](UOp a, UOp b, UOp r) { return a.dependsOn(r) && !b.dependsOn(r); };
  for (UOp m : outputs)
    for (UOp n : outputs)
      if (isFilled(m, core.m) && isFilled(n, core.n) &&
          ((isOf(factors->x, factors->y, m) && isOf(factors->y, factors->x, n)) ||
           (isOf(factors->y, factors->x, m) && isOf(factors->x, factors->y, n))))
        sides.emplace_back(m, n);
  return sides;
}

}  // namespace

std::vector<OptOp> proposePrefetch(const KernelFacts& kernel, const LoopNames& names, const Caps&) {
  constexpr int64_t kAheadBytes = 4096;  // farther than hardware looks
  constexpr int64_t kRowsAhead = 8;
  const std::vector<uint32_t> slots = slotsRead(kernel);
  std::vector<OptOp> moves;
  for (const Access& a : kernel.accesses) {
    const UOp param = a.isStore ? UOp() : operandOf(a);
    if (!param || a.node.src(0).src(0).op() == Op::Prefetch) continue;
    const uint32_t slot = param.argAs<SlotArg>().slot;
    if (!std::ranges::binary_search(slots, slot)) continue;
    std::set<int64_t> aheads{kAheadBytes / std::max<int64_t>(1, byteSize(a.node.dtype()))};
    if (const int64_t run = runOf(a); run > 1) aheads.insert(run);  // the columns beside
    if (const std::optional<Sweep> sweep = sweepOf(kernel, a); sweep && sweep->apart > 0)
      aheads.insert(kRowsAhead * sweep->apart);
    for (const Axis& axis : kernel.axes)  // the next row, the next block
      if (const int64_t stride = strideOf(a, axis.range).value_or(0); stride > 1) aheads.insert(stride);
    for (UOp r : loopsIn(kernel, kAnyNest, {AxisType::Loop, AxisType::Reduce, AxisType::Thread}))
      for (int64_t ahead : aheads) {
        OptOp move{OptKind::Prefetch, SlotAxisAmount{slot, refTo(kernel, names, r), ahead}};
        if (a.node.src(0).dependsOn(r) && std::ranges::find(moves, move) == moves.end())
          moves.push_back(std::move(move));
      }
  }
  return moves;
}

std::vector<OptOp> proposeStream(const KernelFacts& kernel, const LoopNames&, const Caps&) {
  std::set<uint32_t> streamed;
  for (UOp n : kernel.nodes)
    if (n.op() == Op::Param && n.argAs<SlotArg>().space == Space::Stream) streamed.insert(n.argAs<SlotArg>().slot);
  std::vector<OptOp> moves;
  for (uint32_t slot : slotsWritten(kernel))
    if (!streamed.contains(slot)) moves.push_back({OptKind::Stream, ParamSlot{slot}});
  return moves;
}

std::vector<OptOp> proposeDot(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  if (caps.workgroups) return moves;
  for (UOp r : loopsIn(kernel, kReduce, {AxisType::Reduce}))
    if (const int64_t group = groupAlong(kernel, r, caps); group > 0 && group <= maxExtent(r))
      moves.push_back({OptKind::Dot, AxisAmount{refTo(kernel, names, r), group}});
  return moves;
}

namespace {

/// Loops over rows and columns of each product that tile units could take: a factor depends on one of the two alone.
std::vector<OptOp> proposeTileUnits(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> moves;
  const std::vector<UOp> outputs = loopsIn(kernel, kOutput, {AxisType::Loop});
  for (UOp k : loopsIn(kernel, kReduce, {AxisType::Reduce}))
    for (UOp sum : kernel.closersOf(k)) {
      if (!sumsGroups(sum) || sum.src(0).op() != Op::Mul) continue;
      const auto takes = [&](size_t factor, UOp own, UOp other) {
        const UOp value = sum.src(0).src(factor);
        return value.dependsOn(own) && !value.dependsOn(other);
      };
      for (UOp m : outputs)
        for (UOp n : outputs)
          for (uint32_t unit = 0; unit < caps.tiles.size(); ++unit) {
            const bool isProduct = m != n && ((takes(0, m, n) && takes(1, n, m)) || (takes(1, m, n) && takes(0, n, m)));
            OptOp move{OptKind::Tc,
                       CoreAxes{unit, refTo(kernel, names, m), refTo(kernel, names, n), refTo(kernel, names, k)}};
            if (isProduct && std::ranges::find(moves, move) == moves.end()) moves.push_back(std::move(move));
          }
    }
  return moves;
}

}  // namespace

std::vector<OptOp> proposeTc(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  if (!caps.workgroups) return proposeTileUnits(kernel, names, caps);
  std::vector<OptOp> moves;
  const bool hasTile =
      std::ranges::any_of(kernel.nodes, [](UOp n) { return n.op() == Op::Range && isThreadOfGroup(axisType(n)); });
  if (hasTile) return moves;
  const std::vector<UOp> outputs = loopsIn(kernel, kOutput, {AxisType::Loop, AxisType::Global});
  for (UOp k : loopsIn(kernel, kReduce, {AxisType::Reduce}))
    for (uint32_t core = 0; core < caps.cores.size(); ++core)
      for (UOp sum : kernel.closersOf(k))
        for (const auto& [m, n] : sidesOf(sum, outputs, *caps.cores[core])) {
          OptOp move{OptKind::Tc,
                     CoreAxes{core, refTo(kernel, names, m), refTo(kernel, names, n), refTo(kernel, names, k)}};
          if (std::ranges::find(moves, move) == moves.end()) moves.push_back(std::move(move));
        }
  return moves;
}

}  // namespace svod
