#include "ir/verify_access.h"

#include <algorithm>
#include <set>

#include "ir/bulk_tensor.h"
#include "ir/gpu_op.h"
#include "ir/text.h"
#include "ir/warpgroup_operand.h"

namespace svod {

namespace {

struct Access {
  UOp node, index;   // the load, store or instruction, and its Index
  UOp gate;          // null: always taken
  int64_t more = 0;  // elements behind the one at the index
};

std::vector<Access> accessesOf(UOp node) {
  if (node.op() == Op::Load || node.op() == Op::Store) {
    if (node.src(0).op() != Op::Index) return {};
    return {{node, node.src(0), node.srcCount() > 2 ? node.src(2) : UOp()}};
  }
  std::vector<Access> found;
  if (node.op() != Op::Gpu) return found;
  const GpuOpInfo& row = gpuOpOf(node);  // the rules of nodes have looked the name up
  if (const TensorCore* core = productOf(row)) {
    for (size_t i : {1, 2}) {
      const int64_t bytes = byteSize(core->in), apart = node.src(i + 2).constInt();
      const int64_t last = operandPlace((i == 1 ? core->m : core->n) - 1, core->k - 1, apart, bytes);
      found.push_back({node, node.src(i), UOp(), last});
    }
    return found;
  }
  if (row.does(Bulk)) {
    for (UOp operand : operandsOf(node))
      if (operand.op() == Op::Index) found.push_back({node, operand, UOp(), elementsBehind(node, operand)});
    return found;
  }
  for (UOp operand : operandsOf(node)) {
    if (operand.op() != Op::Index) continue;
    const int64_t bytes = row.does(Issues) ? bytesCopied(row) : kMatrixRowBytes;
    const bool isGated = storageOf(operand).op() == Op::Param && operandsOf(node).back().dtype() == DType::Bool;
    found.push_back({node, operand, isGated ? operandsOf(node).back() : UOp(), bytes / byteSize(operand.dtype()) - 1});
  }
  return found;
}

// What an index must stay below. `size` is null when it is a constant.
struct Limit {
  int64_t atLeast;
  UOp size;
};

// By index, or for one flat index the number of elements. A parameter has as many as its size says, local memory as
// many as its largest size.
std::vector<Limit> limitsOf(UOp index, int64_t more) {
  UOp storage = behindAliases(index.src(0));
  if (storage.op() == Op::Param && !storage.src(0).isConst())
    return {{storage.src(0).bounds().min - more, storage.src(0)}};
  if (index.srcCount() == 2) return {{storage.maxNumel() - more, {}}};
  std::vector<Limit> limits;
  for (UOp dim : storage.shape()) limits.push_back({dim.bounds().max, {}});
  return limits;
}

bool isProvenInside(UOp index, std::span<const Limit> limits) {
  for (size_t i = 0; i < limits.size() && i + 1 < index.srcCount(); ++i) {
    Interval at = index.src(1 + i).bounds();
    if (at.min < 0 || at.max >= limits[i].atLeast) return false;
  }
  return true;
}

bool isCounter(UOp u) { return u.op() == Op::Range || u.op() == Op::Var || u.op() == Op::Special; }
bool hasValue(UOp u) {
  return isCounter(u) || u.isConst() || isElementwise(u.op()) || u.op() == Op::Ramp || u.op() == Op::Rows ||
         u.op() == Op::Stack;
}

/// Evaluates an access at values of the counters below it and looks for some where it leaves the buffer. Nodes are
/// evaluated in topological order; a counter goes through its values for everything after it. Lanes are one more
/// counter.
class Search {
 public:
  /// `loops`: those around it, beside the ones it depends on. `places`: scratch, by node id.
  Search(const Access& access, std::span<const Limit> limits, std::span<const UOp> loops, std::vector<size_t>& places)
      : access_(access), limits_(limits), place_(places) {
    std::vector<UOp> roots(access.index.src().begin() + 1, access.index.src().end());
    if (access.gate) roots.push_back(access.gate);
    for (const Limit& limit : limits_)
      if (limit.size) roots.push_back(limit.size);
    roots.insert(roots.end(), access.node.ranges().begin(), access.node.ranges().end());
    roots.insert(roots.end(), loops.begin(), loops.end());
    order_ = toposort(roots);
    for (size_t i = 0; i < order_.size(); ++i) {
      UOp u = order_[i];
      place_[u.id()] = i;
      lanes_ = std::max(lanes_, u.lanes());
      feasible_ &= hasValue(u);
      counters_ += isCounter(u);
    }
    values_.resize(order_.size());
  }

  /// A text as `r0 = 3, n = 1` when the access leaves its buffer there; nullopt when it does not or nobody can tell.
  std::optional<std::string> counterexample(int64_t budget) {
    if (!feasible_) return std::nullopt;
    isWhole_ = combinations(budget) <= budget;
    const int samples = isWhole_ ? 1 : 2 + 2 * std::min(counters_, kMostVaried);
    for (lane_ = 0; lane_ < lanes_; lane_ = isWhole_ || lane_ == lanes_ - 1 ? lane_ + 1 : lanes_ - 1)
      for (sample_ = 0; sample_ < samples; ++sample_)
        if (leavesFrom(0, 0)) return point();
    return std::nullopt;
  }

 private:
  std::string point() const {
    std::string out;
    for (size_t i = 0; i < order_.size(); ++i)
      if (isCounter(order_[i])) out += (out.empty() ? "" : ", ") + toExpr(order_[i]) + " = " + toText(values_[i]);
    return out;
  }

  /// Of values of the counters and lanes; more than the budget where there are too many to count.
  int64_t combinations(int64_t budget) const {
    int64_t points = lanes_;
    for (UOp u : order_) {
      int64_t last = 0;
      if (!isCounter(u)) continue;
      if (__builtin_sub_overflow(u.bounds().max, u.bounds().min, &last) || last >= budget) return budget + 1;
      if ((points *= last + 1) > budget) return budget + 1;
    }
    return points;
  }

  static constexpr int kMostVaried = 16;
  /// Samples: all counters at their first value, all at their last, then one of the first few at the other end
  /// than all others.
  bool takesLast(int counter) const {
    if (sample_ < 2) return sample_ == 1;
    return ((sample_ - 2) / 2 == counter) == (sample_ % 2 == 0);
  }

  const Scalar& at(UOp u) const { return values_[place_[u.id()]]; }

  // Evaluates order_ from `position` on, for the values of the counters found there.
  bool leavesFrom(size_t position, int counter) {
    for (; position < order_.size() && !isCounter(order_[position]); ++position)
      values_[position] = valueOf(order_[position]);
    if (position == order_.size()) return leaves();
    UOp u = order_[position];
    int64_t first = u.bounds().min, last = u.op() == Op::Var ? u.bounds().max : at(u.src(0)).asInt() - 1;
    if (!isWhole_ && first <= last) (takesLast(counter) ? first : last) = takesLast(counter) ? last : first;
    for (int64_t v = first; v <= last; ++v) {
      values_[position] = Scalar::ofInt(u.dtype(), v);
      if (leavesFrom(position + 1, counter + 1)) return true;
    }
    return false;
  }

  Scalar valueOf(UOp u) const {
    if (u.isConst()) return u.constant();
    if (u.op() == Op::Ramp) return Scalar::ofInt(u.dtype(), at(u.src(0)).asInt() + lane_);
    if (u.op() == Op::Rows) {
      const int64_t columns = at(u.src(2)).asInt();
      return Scalar::ofInt(u.dtype(), at(u.src(0)).asInt() + lane_ / columns * at(u.src(1)).asInt() + lane_ % columns);
    }
    if (u.op() == Op::Stack) return at(u.src(static_cast<size_t>(std::min<int>(lane_, u.lanes() - 1))));
    Scalar operands[3];
    for (size_t k = 0; k < u.srcCount(); ++k) operands[k] = at(u.src(k));
    return evalScalar(u.op(), u.dtype(), std::span(operands, u.srcCount()));
  }

  bool leaves() const {
    if (access_.gate && at(access_.gate).asInt() == 0) return false;
    for (size_t i = 0; i < limits_.size(); ++i) {
      int64_t index = at(access_.index.src(1 + i)).asInt();
      int64_t limit = limits_[i].size ? at(limits_[i].size).asInt() - access_.more : limits_[i].atLeast;
      if (index < 0 || index >= limit) return true;
    }
    return false;
  }

  const Access& access_;
  std::span<const Limit> limits_;
  std::vector<size_t>& place_;  // by node id: position in order_
  std::vector<UOp> order_;
  std::vector<Scalar> values_;  // by position
  int lanes_ = 1, counters_ = 0, lane_ = 0, sample_ = 0;
  bool feasible_ = true, isWhole_ = true;
};

/// The loops that stores are in, by node id: also those that they do not depend on.
std::vector<std::vector<UOp>> loopsOf(std::span<const UOp> nodes, size_t count) {
  std::vector<std::vector<UOp>> loops(count);
  for (size_t i = nodes.size(); i-- > 0;) {  // ends around others come first
    UOp n = nodes[i];
    if (n.op() != Op::End && n.op() != Op::Group) continue;
    std::vector<UOp> around = loops[n.id()];
    if (n.op() == Op::End) around.insert(around.end(), n.src().begin() + 1, n.src().end());
    for (UOp effect : n.op() == Op::End ? n.src().first(1) : n.src())
      loops[effect.id()].insert(loops[effect.id()].end(), around.begin(), around.end());
  }
  return loops;
}

}  // namespace

Status checkAccesses(UOp root, Stage stage, int64_t enumerate) {
  const std::vector<UOp> nodes = toposort(root);
  uint32_t largest = 0;
  for (UOp n : nodes) largest = std::max(largest, n.id());
  std::vector<size_t> places(largest + 1);
  const std::vector<std::vector<UOp>> loops = loopsOf(nodes, largest + 1);
  std::set<std::pair<uint32_t, uint32_t>> seen;  // by address and gate
  for (UOp node : nodes) {
    for (const Access& access : accessesOf(node)) {
      const std::vector<Limit> limits = limitsOf(access.index, access.more);
      if (isProvenInside(access.index, limits)) continue;
      const bool isLoad = node.op() == Op::Load;
      if (isLoad && !seen.emplace(access.index.id(), access.gate ? access.gate.id() + 1 : 0).second) continue;
      if (std::optional<std::string> where = Search(access, limits, loops[node.id()], places).counterexample(enumerate))
        return violation(
            node, stage, "bounds",
            "leaves its buffer" + (where->empty() ? "" : " at " + *where) + "; address " + toExpr(access.index));
    }
  }
  return {};
}

}  // namespace svod
