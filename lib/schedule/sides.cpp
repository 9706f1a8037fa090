#include "schedule/sides.h"

#include <algorithm>
#include <map>
#include <ranges>

#include "tensor/nodes.h"
#include "tensor/work.h"

namespace svod {

namespace {

/// Whether one value decides for all elements, which only a run knows.
bool isOfRun(UOp condition) {
  constexpr Op kOpen[] = {Op::Var, Op::Reduce, Op::Fill, Op::After, Op::Buffer, Op::Range};
  bool hasLoad = false;
  for (UOp n : toposort(condition)) {
    if (std::ranges::find(kOpen, n.op()) != std::end(kOpen)) return false;
    if (n.op() == Op::Param && n.argAs<SlotArg>().space != Space::Global) return false;
    hasLoad |= n.op() == Op::Load;
  }
  return hasLoad;
}

}  // namespace

std::vector<Side> sidesOf(std::span<const UOp> order) {
  std::vector<Side> sides(idsBelow(order), Side::none());
  const auto need = [&](UOp n, const Side& side) { sides[n.id()] = sides[n.id()].either(side); };
  need(order.back(), Side::always());
  for (UOp n : order | std::views::reverse) {
    const UOp condition = n.op() == Op::Where ? belowArrangement(n.src(0)) : UOp();
    const bool isChoice = condition && !condition.isConst() && condition.maxNumel() == 1;
    for (size_t i = 0; i < n.srcCount(); ++i)
      need(n.src(i), isChoice && i > 0 ? sides[n.id()].within(Side::where(condition, i == 1)) : sides[n.id()]);
  }
  return sides;
}

std::vector<Side> sidesOf(UOp sink, size_t count) {
  const std::vector<UOp> nodes = toposort(sink);
  std::map<uint32_t, Side> needed;  // by node
  const auto need = [&](UOp n, const Side& side) {
    const auto [at, isNew] = needed.try_emplace(n.id(), side);
    if (!isNew) at->second = at->second.either(side);
  };
  need(sink, Side::always());
  std::vector<Side> sides(count, Side::none());
  for (UOp n : nodes | std::views::reverse) {
    const Side side = needed.at(n.id());
    const bool isChoice = n.op() == Op::Where && isOfRun(n.src(0));
    for (size_t i = 0; i < n.srcCount(); ++i) {
      const bool isPlace = (n.op() == Op::Index && i > 0) || (n.op() == Op::Load && i == 2) || n.op() == Op::Range;
      if (isPlace)
        need(n.src(i), Side::always());
      else
        need(n.src(i), isChoice && i > 0 ? side.within(Side::where(n.src(0), i == 1)) : side);
    }
    if (n.op() != Op::Load) continue;
    const UOp storage = storageOf(n.src(0));
    if (storage.op() != Op::Param) continue;
    Side& all = sides[storage.argAs<SlotArg>().slot];
    all = all.either(side);
  }
  return sides;
}

}  // namespace svod
