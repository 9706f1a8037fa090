#include "schedule/fuse_uses.h"

#include <algorithm>

#include "ir/likely.h"
#include "tensor/parameters.h"

namespace svod {

namespace {

using parameters::kRegisterTile;

double likely(UOp dim) { return static_cast<double>(std::max<int64_t>(1, likelySize(dim))); }

}  // namespace

std::vector<UOp> wholeOperands(UOp n) {
  std::vector<UOp> whole;
  if (n.op() != Op::Copy && n.op() != Op::Custom) return whole;
  const size_t count = n.op() == Op::Copy ? 1 : static_cast<size_t>(n.argAs<CustomArg>().inputs);
  for (UOp s : n.src().first(count))
    if (s.dtype() != DType::Index) whole.push_back(s);
  return whole;
}

void FusionUses::clear() {
  uses_.assign(uses_.size(), {});
  rootShape_.clear(), rootOwner_.clear();
}

void FusionUses::add(UOp node, Use use) {
  std::vector<Use>& uses = uses_[node.id()];
  for (Use& known : uses)
    if (known.key() == use.key()) {
      known.inReduce |= use.inReduce;
      known.outer = unite(known.outer, use.outer), known.loops = unite(known.loops, use.loops);
      return;
    }
  if (uses.size() <= parameters::kMaxUses) uses.push_back(std::move(use));
}

void FusionUses::readOnce(UOp n) {
  std::vector<Use>& uses = uses_[n.id()];
  uses.resize(1), uses[0].outer.clear(), uses[0].loops.clear();
}

void FusionUses::addRoot(UOp owner, UOp shape, std::span<const UOp> values) {
  auto root = static_cast<uint32_t>(rootShape_.size());
  rootShape_.push_back(shape);
  rootOwner_.push_back(owner);
  Use use{root, {}};
  for (size_t i = 0; i < shape.rank(); ++i)
    use.index.push_back(shape.dim(i) == 1 ? tokens_.zero() : tokens_.rootAxis(root, static_cast<int>(i)));
  for (UOp value : values) add(value, value.rank() == 0 ? Use{root, {}} : use);
}

double FusionUses::extent(const Use& use, std::span<const int> axes) const {
  double count = 1;
  for (int axis : axes) count *= likely(rootShape(use).shape()[static_cast<size_t>(axis)]);
  return count;
}

double FusionUses::repetitions(UOp n, const Use& use) const {
  double count = 1;
  for (UOp loop : owner(use).ranges())
    if (!n.dependsOn(loop)) count *= likely(loop.src(0));
  return count;
}

bool FusionUses::isInWindows(const Use& use) const {
  return std::ranges::any_of(use.index, [&](TokenId id) { return tokens_[id].reduced && !tokens_[id].isCounter; });
}

double FusionUses::elementsRead(const Use& use) const {
  return extent(use, tokens_.axesOf(use)) * tokens_.reduceExtent(tokens_.reducesOf(use.index));
}

double FusionUses::evaluations(const Use& use) const {
  std::vector<int> axes = tokens_.axesOf(use);
  const std::vector<int> own = tokens_.reducesOf(use.index);
  const double loops = tokens_.reduceExtent(unite(own, use.loops)) / tokens_.reduceExtent(own);
  const double repeats = loops * extent(use, unite(axes, use.outer)) / extent(use, axes);
  return elementsRead(use) * std::max(1.0, repeats / kRegisterTile);
}

bool FusionUses::canHoist(UOp n) const {
  const std::span<const Use> uses = of(n);
  if (uses.size() != 1) return false;
  const Use& use = uses[0];
  UOp root = rootShape(use);
  std::vector<bool> used(root.rank());
  for (TokenId id : use.index) {
    if (tokens_[id].reduced) return false;
    for (int axis : tokens_[id].axes) used[static_cast<size_t>(axis)] = true;
  }
  bool ended = false;
  for (size_t axis = 0; axis < root.rank(); ++axis) {
    if (root.dim(axis) == 1) continue;
    if (used[axis] && ended) return false;
    ended |= !used[axis];
  }
  return elementsRead(use) * repetitions(n, use) <= static_cast<double>(likelyNumel(n));
}

}  // namespace svod
