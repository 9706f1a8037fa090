#include "opts/propose.h"

#include <algorithm>
#include <set>

#include "opts/proposals.h"

namespace svod {

namespace {

// Slots of parameters that are stored to (or loaded from), and never the other.
std::vector<uint32_t> slotsOf(const KernelFacts& kernel, bool stored) {
  std::set<uint32_t> wanted, others;
  for (const Access& a : kernel.accesses)
    if (a.slot) (a.isStore == stored ? wanted : others).insert(*a.slot);
  std::vector<uint32_t> slots;
  std::ranges::set_difference(wanted, others, std::back_inserter(slots));
  return slots;
}

}  // namespace

std::vector<uint32_t> slotsRead(const KernelFacts& kernel) { return slotsOf(kernel, false); }
std::vector<uint32_t> slotsWritten(const KernelFacts& kernel) { return slotsOf(kernel, true); }

AxisRef refTo(const KernelFacts& kernel, const LoopNames& names, UOp range) {
  if (std::string_view name = names.nameOf(range); !name.empty()) return {std::string(name)};
  return static_cast<int32_t>(std::ranges::find(kernel.axes, range, &Axis::range) - kernel.axes.begin());
}

std::vector<AxisRef> refsTo(const KernelFacts& kernel, const LoopNames& names, std::span<const UOp> ranges) {
  std::vector<AxisRef> refs;
  for (UOp r : ranges) refs.push_back(refTo(kernel, names, r));
  return refs;
}

std::vector<UOp> loopsIn(const KernelFacts& kernel, uint8_t nests, std::initializer_list<AxisType> types,
                         int64_t least) {
  std::vector<UOp> loops;
  for (const Axis& axis : kernel.axes)
    if ((nests & (1 << static_cast<int>(axis.nest))) != 0 && maxExtent(axis.range) >= least &&
        std::ranges::find(types, axisType(axis.range)) != types.end())
      loops.push_back(axis.range);
  return loops;
}

bool mayFoldInAnyOrder(const KernelFacts& kernel, UOp range, const Caps& caps) {
  return std::ranges::all_of(kernel.closersOf(range),
                             [&](UOp c) { return c.op() != Op::Reduce || mayReassociate(caps, c.dtype()); });
}

void addAmounts(std::vector<OptOp>& moves, OptKind kind, const AxisRef& axis, UOp range, const Amounts& amounts) {
  const std::optional<int64_t> extent = constExtent(range);
  for (int64_t n : amounts.sizes)
    if (n < extent.value_or(maxExtent(range) + 1)) moves.push_back({kind, AxisAmount{axis, n}});
  if (extent && *extent > 1 && *extent <= amounts.whole) moves.push_back({kind, AxisAmount{axis, 0}});
}

std::vector<OptOp> proposeOpts(const KernelFacts& kernel, const LoopNames& names, const Caps& caps) {
  std::vector<OptOp> all;
  for (const OptInfo& row : allOpts()) std::ranges::move(row.propose(kernel, names, caps), std::back_inserter(all));
  return all;
}

}  // namespace svod
