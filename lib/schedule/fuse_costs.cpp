#include "schedule/fuse_costs.h"

#include "tensor/nodes.h"
#include "tensor/work.h"

namespace svod {

using parameters::kCachedRecompute, parameters::kCachedWork;

void FusionCosts::measure(std::span<const UOp> order, const std::vector<bool>& isIndexMath,
                          const std::vector<bool>& isCut) {
  for (UOp n : order) {
    double& sum = work_[n.id()] = isStorage(n) ? kLoadCost : isIndexMath[n.id()] ? 0 : work(n);
    if (isStorage(n) || isIndexMath[n.id()]) continue;
    for (UOp s : n.src())
      sum += isCut[s.id()] || hasOwnKernel(s.op()) || s.op() == Op::Reduce ? kLoadCost : work_[s.id()];
  }
}

KeepOrFuse FusionCosts::weigh(UOp n, const FusionUses& uses) const {
  const std::span<const Use> all = uses.of(n);
  double elements = static_cast<double>(n.maxNumel()), total = 0, each = work_[n.id()];
  bool oneKernel = true, isStored = false;
  for (const Use& use : all) {
    total += uses.evaluations(use) * uses.repetitions(n, use);
    oneKernel &= use.root == all[0].root;
    isStored |= uses.isRootUse(n, use);
  }
  KeepOrFuse cost{total * each, elements * (each + kStoreCost) + total * kLoadCost + kLaunch};
  cost.isOnce = all.size() == 1 && total <= elements;
  cost.isCached = oneKernel && total <= kCachedRecompute * elements && each <= kCachedWork;
  if (cost.isOnce || cost.isCached) return cost;
  cost.isKeepCheaper = isStored ? (total - elements) * kLoadCost < (total - elements) * each  // an output anyway
                                : cost.keep < cost.fuse;
  return cost;
}

}  // namespace svod
