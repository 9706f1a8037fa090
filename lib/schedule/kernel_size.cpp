#include "schedule/kernel_size.h"

#include <algorithm>
#include <ranges>

#include "tensor/nodes.h"

namespace svod {

bool regroups(UOp n) {
  auto isWide = [](UOp dim) { return !dim.isConst(1); };
  return n.op() == Op::Reshape &&
         !std::ranges::equal(n.shape() | std::views::filter(isWide), n.src(0).shape() | std::views::filter(isWide));
}

bool cutLargeKernels(std::span<const UOp> order, const std::function<bool(UOp)>& hasBuffer,
                     const std::set<uint32_t>& uncut, std::vector<bool>& isCut) {
  constexpr SizeLimit kBuffer = {0, 1, 1, 0};
  std::vector<SizeLimit> sizes(isCut.size());
  bool found = false;
  for (UOp n : order) {
    SizeLimit& size = sizes[n.id()];
    size = kBuffer;
    if (isStorage(n)) continue;
    SizeLimit inlined{isElementwise(n.op()), 0, 0, 0};
    for (UOp s : n.src()) {
      inlined.ops += sizes[s.id()].ops, inlined.leaves += sizes[s.id()].leaves;
      inlined.depth = std::max(inlined.depth, sizes[s.id()].depth + 1);
      inlined.regroupings = std::max(inlined.regroupings, sizes[s.id()].regroupings + regroups(n));
    }
    const SizeLimit& limit = n.op() == Op::Reduce ? kMaxReduce : kMaxElementwise;
    const bool tooLarge = !uncut.contains(n.id()) && !limit.admits(inlined);
    found |= tooLarge && !isCut[n.id()] && n.op() != Op::Sink;
    if (tooLarge) isCut[n.id()] = true;
    if (!tooLarge && !hasBuffer(n)) size = inlined;
  }
  return found;
}

}  // namespace svod
