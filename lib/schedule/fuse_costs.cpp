#include "schedule/fuse_costs.h"

#include <algorithm>
#include <numeric>

#include "ir/likely.h"
#include "tensor/nodes.h"
#include "tensor/work.h"

namespace svod {

using parameters::kCachedRecompute, parameters::kCachedWork;

namespace {

constexpr size_t kMostItems = 256;  // an element of more is dear, whatever else it takes

}  // namespace

bool FusionCosts::endsReduction() const {
  const std::span<const ElementDag::Item> items = dag_.items();
  const auto isEnd = [&](const ElementDag::Item& item) {
    return item.isLeaf && item.node.op() == Op::Reduce && dag_.isReadOnce(item);
  };
  if (std::ranges::none_of(items, isEnd)) return false;
  std::vector<uint32_t> order(items.size());  // readers before what they read
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater(), [&](uint32_t i) { return items[i].node.id(); });
  std::vector<int> reads(items.size());  // by values that nothing else reads
  for (uint32_t i : order) {
    if (i != 0 && reads[i] != readers_.count(items[i].node)) continue;
    if (isEnd(items[i])) return true;
    for (uint32_t operand : dag_.operands(items[i])) ++reads[operand];
  }
  return false;
}

const FusionCosts::Element& FusionCosts::elementOf(UOp n) {
  Element& element = elements_[n.id()];
  if (element.work >= 0) return element;
  const auto isRead = [&](UOp s) {
    return isStorage(s) || isCut_[s.id()] || hasOwnKernel(s.op()) || s.op() == Op::Reduce || isIndexMath_[s.id()];
  };
  dag_.find({&n, 1}, isRead, kMostItems);
  element.work = 0;
  for (const ElementDag::Item& item : dag_.items())
    if (!isIndexMath_[item.node.id()]) element.work += item.isLeaf ? kLoadCost : work(item.node);
  element.endsReduction = endsReduction();
  return element;
}

bool FusionCosts::isPlainlyOnce(UOp n, const FusionUses& uses) {
  const std::span<const Use> all = uses.of(n);
  if (all.size() != 1 || uses.isInWindows(all[0])) return false;
  return uses.evaluations(all[0]) * uses.repetitions(n, all[0]) <= static_cast<double>(likelyNumel(n));
}

KeepOrFuse FusionCosts::weigh(UOp n, const FusionUses& uses) {
  const std::span<const Use> all = uses.of(n);
  const double elements = static_cast<double>(likelyNumel(n)), each = ofElement(n);
  double total = 0;
  bool oneKernel = true, isStored = false, isInWindows = false;
  for (const Use& use : all) {
    total += uses.evaluations(use) * uses.repetitions(n, use);
    oneKernel &= use.root == all[0].root;
    isStored |= uses.isRootUse(n, use);
    isInWindows |= uses.isInWindows(use);
  }
  // Either a reduction that is read so is kept or, in its place, this value; of few elements it is no matter which.
  const bool isRepeated = all.size() == 1 && total > elements && elements * each >= kLaunch;
  const bool endsReduction = (isInWindows || isRepeated) && elementOf(n).endsReduction;
  KeepOrFuse cost{total * each, elements * (each + kStoreCost) + total * kLoadCost + kLaunch};
  if (endsReduction) cost.fuse += elements * kStoreCost + kLaunch, cost.keep -= elements * kLoadCost;
  cost.isOnce = all.size() == 1 && total <= elements && !endsReduction;
  cost.isCached = oneKernel && !endsReduction && total <= kCachedRecompute * elements && each <= kCachedWork;
  if (cost.isOnce || cost.isCached) return cost;
  cost.isKeepCheaper = isStored ? (total - elements) * kLoadCost < (total - elements) * each  // an output anyway
                                : cost.keep < cost.fuse || (endsReduction && cost.keep == cost.fuse);
  return cost;
}

}  // namespace svod
