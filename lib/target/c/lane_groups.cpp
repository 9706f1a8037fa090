#include "target/c/lane_groups.h"

#include <algorithm>

namespace svod {

namespace {

class Grouping {
 public:
  explicit Grouping(const LinearKernel& kernel) : kernel_(kernel) {
    uint32_t largest = 0;
    for (UOp n : kernel.ops) largest = std::max(largest, n.id());
    groups_.groupOf.assign(largest + 1, -1);
    groups_.escapes.assign(largest + 1, false);
    groups_.byElement.assign(largest + 1, false);
    groups_.closesBefore.assign(kernel.ops.size(), false);
  }

  LaneGroups run() {
    for (size_t i = 0; i < kernel_.ops.size(); ++i) {
      UOp n = kernel_.ops[i];
      if (printsNothing(n.op())) continue;
      if (open_ && mustClose(n)) {
        groups_.closesBefore[i] = true;
        open_ = false;
      }
      if (isLaneWise(n)) join(n);
    }
    for (UOp n : kernel_.ops) markEscapes(n, n), markElements(n);
    return std::move(groups_);
  }

 private:
  static int widthOf(UOp n) { return n.op() == Op::Store ? storeWidth(n) : n.lanes(); }
  static int storeWidth(UOp n) { return std::max(n.src(0).lanes(), n.src(1).lanes()); }

  bool inOpenGroup(UOp n) const { return open_ && groups_.groupOf[behindAliases(n).id()] == count_ - 1; }

  bool mustClose(UOp n) const {
    if (n.op() == Op::Range || n.op() == Op::End) return true;
    if (isLaneWise(n)) return widthOf(n) != width_ || conflicts(n);
    if (n.op() == Op::Store) return true;
    if (n.op() == Op::Load && !stores_.empty()) return true;
    return std::ranges::any_of(n.src(), [&](UOp s) { return s.lanes() > 1 && inOpenGroup(s); });
  }

  // Lane by lane, an access must not meet one of another lane that belongs before or after it.
  bool conflicts(UOp n) const {
    if (n.op() != Op::Load && n.op() != Op::Store) return false;
    auto clashes = [&](UOp other) {
      return storageOf(other) == storageOf(n.src(0)) && other.src(1) != n.src(0).src(1);
    };
    if (std::ranges::any_of(stores_, clashes)) return true;
    return n.op() == Op::Store && std::ranges::any_of(loads_, clashes);
  }

  void join(UOp n) {
    if (!open_) {
      open_ = true;
      ++count_;
      width_ = widthOf(n);
      loads_.clear();
      stores_.clear();
    }
    groups_.groupOf[n.id()] = count_ - 1;
    if (n.op() == Op::Load) loads_.push_back(n.src(0));
    if (n.op() == Op::Store) stores_.push_back(n.src(0));
  }

  // Addresses are printed where they are used, so their indices count as used by the access.
  void markEscapes(UOp user, UOp node) {
    if (node == user && printsNothing(user.op())) return;
    for (UOp s : node.src()) {
      UOp v = behindAliases(s);
      if (v.op() == Op::Index) {
        markEscapes(user, v);
        continue;
      }
      int group = groups_.groupOf[v.id()];
      if (group >= 0 && v.dtype() != DType::Void && group != groups_.groupOf[user.id()]) groups_.escapes[v.id()] = true;
    }
  }

  void markElements(UOp user) {
    if (user.op() == Op::Lane || user.op() == Op::Dot)
      for (UOp s : user.src()) groups_.byElement[behindAliases(s).id()] = true;
    if (user.op() != Op::Load && user.op() != Op::Store) return;
    UOp memory = storageOf(user.src(0));
    if (memory.op() == Op::Buffer && widthOf(user) != memory.maxNumel()) groups_.byElement[memory.id()] = true;
  }

  const LinearKernel& kernel_;
  LaneGroups groups_;
  int count_ = 0, width_ = 0;
  bool open_ = false;
  std::vector<UOp> loads_, stores_;  // addresses accessed by the open group
};

}  // namespace

bool isLaneWise(UOp n) {
  if (n.op() == Op::Store) return n.src(0).lanes() > 1 || n.src(1).lanes() > 1;
  if (n.rank() == 0 || n.lanes() < 1) return false;
  return isElementwise(n.op()) || n.op() == Op::Load;
}

LaneGroups findLaneGroups(const LinearKernel& kernel) { return Grouping(kernel).run(); }

bool printsNothing(Op op) {
  switch (op) {
    case Op::Const:
    case Op::Param:
    case Op::Var:
    case Op::Buffer:
    case Op::Index:
    case Op::After:
    case Op::Prefetch:
    case Op::Ramp:
    case Op::Sink:
    case Op::Group: return true;
    default: return false;
  }
}

}  // namespace svod
