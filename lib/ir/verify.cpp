// The walk over a graph: stage membership, the rule tables, open ranges, and accesses that leave their buffer.
#include "ir/verify.h"

#include <algorithm>
#include <unordered_map>

#include "ir/text.h"

namespace svod {

namespace {

tl::unexpected<Error> violation(UOp node, Stage stage, std::string_view rule, const std::string& wrong) {
  return fail(Error{Diag::Verify,
                    "stage " + std::string(toText(stage)) + ", rule " + std::string(rule) + ": " +
                        std::string(toText(node.op())) + ": " + wrong,
                    "--print-before and --print-after show the graph around the pass that made this node",
                    {},
                    {"node: " + toLineText(node)}});
}

Status checkNode(UOp node, Stage stage) {
  auto bit = static_cast<uint8_t>(stage);
  if ((info(node.op()).stages & bit) == 0)
    return violation(node, stage, "stage", "does not belong to this stage");
  NodeView view{node.op(), node.dtype(), node.src(), node.arg()};
  for (std::span<const SpecRule> table : {structuralRules(), valueRules(), storageRules()})
    for (const SpecRule& rule : table) {
      if ((rule.stages & bit) == 0 || !rule.covers(node.op())) continue;
      if (std::string wrong = rule.check(view); !wrong.empty()) return violation(node, stage, rule.name, wrong);
    }
  return {};
}

// -- accesses

struct Access {
  UOp node, index;  // the load or store, and its Index
  UOp gate;         // null: always taken
};

std::optional<Access> accessOf(UOp node) {
  if ((node.op() != Op::Load && node.op() != Op::Store) || node.src(0).op() != Op::Index) return std::nullopt;
  return Access{node, node.src(0), node.srcCount() > 2 ? node.src(2) : UOp()};
}

// What an index must stay below. `size` is null when it is a constant.
struct Limit {
  int64_t atLeast;
  UOp size;
};

// By index, or for one flat index the number of elements. A parameter has as many as its size says, local memory as many
// as its largest size.
std::vector<Limit> limitsOf(UOp index) {
  UOp storage = behindAliases(index.src(0));
  if (storage.op() == Op::Param && !storage.src(0).isConst()) return {{storage.src(0).bounds().min, storage.src(0)}};
  if (index.srcCount() == 2) return {{storage.maxNumel(), {}}};
  std::vector<Limit> limits;
  for (UOp dim : storage.shape()) limits.push_back({dim.bounds().max, {}});
  return limits;
}

// Enumerates all values of the counters below an access and looks for one that leaves the buffer. Nodes are evaluated
// in topological order; a counter loops over everything after it.
class Enumeration {
 public:
  Enumeration(const Access& access, int64_t budget) : access_(access), limits_(limitsOf(access.index)) {
    std::vector<UOp> roots(access.index.src().begin() + 1, access.index.src().end());
    if (access.gate) roots.push_back(access.gate);
    for (const Limit& limit : limits_)
      if (limit.size) roots.push_back(limit.size);
    order_ = toposort(roots);
    int64_t points = 1;
    for (size_t i = 0; i < order_.size(); ++i) {
      UOp u = order_[i];
      place_.emplace(u.id(), i);
      if (!isCounter(u) && !u.isConst() && !isElementwise(u.op())) feasible_ = false;  // a loaded value or a vector
      int64_t count = 0;
      if (isCounter(u) && (__builtin_sub_overflow(u.bounds().max, u.bounds().min, &count) || count >= budget ||
                           (points *= count + 1) > budget))
        feasible_ = false;
      if (!feasible_) return;
    }
    values_.resize(order_.size());
  }

  /// A text as `r0 = 3, n = 1` when the access leaves its buffer there; nullopt when it does not or nobody can tell.
  std::optional<std::string> counterexample() {
    if (!feasible_ || !leavesFrom(0)) return std::nullopt;
    std::string out;
    for (size_t i = 0; i < order_.size(); ++i)
      if (isCounter(order_[i])) out += (out.empty() ? "" : ", ") + toExpr(order_[i]) + " = " + toText(values_[i]);
    return out;
  }

 private:
  static bool isCounter(UOp u) { return u.op() == Op::Range || u.op() == Op::Var || u.op() == Op::Special; }

  const Scalar& at(UOp u) const { return values_[place_.at(u.id())]; }

  // Evaluates order_ from `position` on, for all values of the counters found there.
  bool leavesFrom(size_t position) {
    for (; position < order_.size() && !isCounter(order_[position]); ++position) evaluateAt(position);
    if (position == order_.size()) return leaves();
    UOp counter = order_[position];
    int64_t last = counter.op() == Op::Var ? counter.bounds().max : at(counter.src(0)).asInt() - 1;
    for (int64_t v = counter.bounds().min; v <= last; ++v) {
      values_[position] = Scalar::ofInt(counter.dtype(), v);
      if (leavesFrom(position + 1)) return true;
    }
    return false;
  }

  void evaluateAt(size_t position) {
    UOp u = order_[position];
    Scalar operands[3];
    for (size_t k = 0; k < u.srcCount(); ++k) operands[k] = at(u.src(k));
    values_[position] = u.isConst() ? u.constant() : evalScalar(u.op(), u.dtype(), std::span(operands, u.srcCount()));
  }

  bool leaves() const {
    if (access_.gate && at(access_.gate).asInt() == 0) return false;
    for (size_t i = 0; i < limits_.size(); ++i) {
      int64_t index = at(access_.index.src(1 + i)).asInt();
      int64_t limit = limits_[i].size ? at(limits_[i].size).asInt() : limits_[i].atLeast;
      if (index < 0 || index >= limit) return true;
    }
    return false;
  }

  const Access& access_;
  std::vector<Limit> limits_;
  std::vector<UOp> order_;
  std::unordered_map<uint32_t, size_t> place_;  // node id -> position in order_
  std::vector<Scalar> values_;                  // by position
  bool feasible_ = true;
};

Status checkAccess(const Access& access, Stage stage, int64_t budget) {
  std::vector<Limit> limits = limitsOf(access.index);
  bool inside = true;
  for (size_t i = 0; i < limits.size() && i + 1 < access.index.srcCount(); ++i) {
    Interval at = access.index.src(1 + i).bounds();
    inside &= at.min >= 0 && at.max < limits[i].atLeast;
  }
  if (inside) return {};
  std::optional<std::string> where = Enumeration(access, budget).counterexample();
  if (!where) return {};
  return violation(access.node, stage, "bounds",
                   "leaves its buffer" + (where->empty() ? "" : " at " + *where) + "; address " + toExpr(access.index));
}

}  // namespace

Status verify(UOp root, Stage stage, const VerifyOptions& options) {
  if (root.op() != Op::Sink) return violation(root, stage, "root", "the root of a graph is a sink");
  for (UOp node : toposort(root)) {
    SVOD_CHECK(checkNode(node, stage));
    if (stage == Stage::Tensor || options.enumerate == 0) continue;
    if (std::optional<Access> access = accessOf(node)) SVOD_CHECK(checkAccess(*access, stage, options.enumerate));
  }
  if (!root.ranges().empty())
    return violation(root.ranges()[0], stage, "open-range", "is still open at the sink; an end must close it");
  return {};
}

}  // namespace svod
