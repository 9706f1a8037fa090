#include "schedule/kernel_size.h"

#include <algorithm>
#include <ranges>

#include "ir/likely.h"
#include "schedule/fuse_uses.h"
#include "tensor/nodes.h"
#include "tensor/work.h"

namespace svod {

namespace {

/// What a kernel computes for one element, grown from what it reads to its result.
class KernelSize {
 public:
  KernelSize(const ElementDag& dag, const std::set<uint32_t>& uncut, std::vector<bool>& isCut)
      : dag_(dag), uncut_(uncut), isCut_(isCut), sizes_(dag.items().size()), isRead_(sizes_.size()) {}

  bool cut() {
    if (isSmall()) return false;
    std::vector<uint32_t> order(dag_.items().size());  // operands are made before what reads them
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [this](uint32_t i) { return std::pair(dag_.items()[i].node.id(), i); });
    for (uint32_t i : order) visit(i);
    return found_;
  }

 private:
  struct Size {
    std::vector<uint32_t> below;  // numbers of ops and leaves, ascending
    SizeLimit count = {0, 0, 0, 0};
  };

  /// All of it together breaks no limit.
  bool isSmall() const {
    SizeLimit all{0, 0, static_cast<int>(dag_.items().size()), 0};
    for (const ElementDag::Item& item : dag_.items()) {
      ++(item.isLeaf ? all.leaves : all.ops);
      all.regroupings += !item.isLeaf && regroups(item.node);
    }
    return kMaxReduce.admits(all) && kMaxElementwise.admits(all);
  }

  void visit(uint32_t number) {
    const ElementDag::Item& item = dag_.items()[number];
    Size& size = sizes_[number];
    if (!item.isLeaf) size = inlined(number);
    const SizeLimit& limit = item.node.op() == Op::Reduce ? kMaxReduce : kMaxElementwise;
    const bool tooLarge = !uncut_.contains(item.node.id()) && !limit.admits(size.count);
    if (tooLarge && !isCut_[item.node.id()]) isCut_[item.node.id()] = found_ = true;
    isRead_[number] = item.isLeaf || tooLarge;
    if (isRead_[number]) size = {{number}, {0, 1, 1, 0}};
  }

  Size inlined(uint32_t number) const {
    const UOp node = dag_.items()[number].node;
    Size size;
    for (uint32_t operand : dag_.operands(dag_.items()[number])) {
      const Size& below = sizes_[operand];
      std::vector<uint32_t> both;
      both.reserve(size.below.size() + below.below.size() + 1);
      std::ranges::set_union(size.below, below.below, std::back_inserter(both));
      size.below = std::move(both);
      size.count.depth = std::max(size.count.depth, below.count.depth + 1);
      size.count.regroupings = std::max(size.count.regroupings, below.count.regroupings + regroups(node));
    }
    if (isElementwise(node.op())) size.below.insert(std::ranges::upper_bound(size.below, number), number);
    for (uint32_t i : size.below) ++(isRead_[i] ? size.count.leaves : size.count.ops);
    return size;
  }

  const ElementDag& dag_;
  const std::set<uint32_t>& uncut_;
  std::vector<bool>& isCut_;
  std::vector<Size> sizes_;   // by item
  std::vector<bool> isRead_;  // by item: a leaf, or cut
  bool found_ = false;
};

int opsBelow(std::span<const UOp> roots) {
  return static_cast<int>(std::ranges::count_if(toposort(roots), isElementwise, &UOp::op));
}

}  // namespace

std::vector<UOp> reducedIn(UOp sink) {
  std::vector<UOp> reduced;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Reduce) reduced.push_back(n.src(0));
  return reduced;
}

bool isSmallEnough(UOp sink) {
  const std::vector<UOp> reduced = reducedIn(sink), repeated = toposort(reduced);
  const bool repeatsLoads = std::ranges::find(repeated, Op::Load, &UOp::op) != repeated.end();
  const SizeLimit& limit = repeatsLoads ? kMaxReduce : kMaxElementwise;
  return opsBelow({&sink, 1}) <= kMaxElementwise.ops && opsBelow(reduced) <= limit.ops &&
         std::ranges::count(toposort(sink), Op::Param, &UOp::op) <= limit.leaves;
}

bool regroups(UOp n) {
  auto isWide = [](UOp dim) { return !dim.isConst(1); };
  return n.op() == Op::Reshape &&
         !std::ranges::equal(n.shape() | std::views::filter(isWide), n.src(0).shape() | std::views::filter(isWide));
}

bool cutLargeKernels(std::span<const UOp> order, ElementDag& dag, const std::function<bool(UOp)>& hasBuffer,
                     const std::set<uint32_t>& uncut, std::vector<bool>& isCut) {
  bool found = false;
  const auto isRead = [&](UOp n) { return isStorage(n) || hasBuffer(n); };
  const auto cut = [&](UOp value) {
    dag.find({&value, 1}, isRead);
    found |= KernelSize(dag, uncut, isCut).cut();
  };
  for (UOp n : order) {
    if (isStorage(n)) continue;
    if (hasBuffer(n)) cut(n);
    if (n.op() != Op::Store && !hasOwnKernel(n.op())) continue;
    for (UOp s : n.src())  // a kernel of their own computes these, where they are not kept
      if (!isRead(s)) cut(s);
  }
  return found;
}

double launchCost(UOp sink) {
  double sum = kLaunch;
  for (UOp n : toposort(sink)) {
    const double each = n.op() == Op::Load ? kLoadCost : n.op() == Op::Store ? kStoreCost : work(n);
    if (each == 0 || n.dtype() == DType::Index) continue;
    double times = 1;
    for (UOp range : n.ranges()) times *= static_cast<double>(std::max<int64_t>(1, likelySize(range.src(0))));
    sum += each * times;
  }
  return sum;
}

}  // namespace svod
