// The walk over a graph: stage membership, the two rule tables, open ranges, and accesses that leave their buffer.
#include "ir/verify.h"

#include <algorithm>

#include "ir/evaluate.h"
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
  for (std::span<const SpecRule> table : {structuralRules(), nodeRules()})
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

// Sizes the indices must stay below: dims per index, or the number of elements for one flat index.
std::vector<int64_t> limitsOf(UOp index) {
  UOp storage = index.src(0);
  if (index.srcCount() == 2) return {storage.maxNumel()};
  std::vector<int64_t> limits;
  for (UOp dim : storage.shape()) limits.push_back(dim.bounds().max);
  return limits;
}

// Enumerates all values of the counters below an access and looks for one that leaves the buffer.
class Enumeration {
 public:
  Enumeration(const Access& access, int64_t budget) : access_(access), limits_(limitsOf(access.index)), budget_(budget) {
    std::vector<UOp> roots(access.index.src().begin() + 1, access.index.src().end());
    if (access.gate) roots.push_back(access.gate);
    for (UOp u : toposort(roots)) {
      if (u.op() == Op::Range || u.op() == Op::Var || u.op() == Op::Special)
        counters_.push_back(u);
      else if (!u.isConst() && !isElementwise(u.op()))
        known_ = false;  // a loaded value or a vector: nothing to enumerate
    }
    values_.resize(counters_.size());
  }

  /// A text as `r0 = 3, n = 1` when the access leaves its buffer there; nullopt when it does not or nobody can tell.
  std::optional<std::string> counterexample() {
    if (!known_ || !affordable()) return std::nullopt;
    return walk(0);
  }

 private:
  bool affordable() const {
    int64_t points = 1;
    for (UOp c : counters_) {
      int64_t count = 0;
      if (__builtin_sub_overflow(c.bounds().max, c.bounds().min, &count) ||
          __builtin_mul_overflow(points, count + 1, &points) || points > budget_)
        return false;
    }
    return true;
  }

  std::optional<Scalar> at(UOp value) const {
    return evaluate(value, [this](UOp leaf) -> std::optional<Scalar> {
      auto found = std::ranges::find(counters_, leaf);
      if (found == counters_.end()) return std::nullopt;
      return Scalar::ofInt(leaf.dtype(), values_[static_cast<size_t>(found - counters_.begin())]);
    });
  }

  std::optional<std::string> walk(size_t depth) {
    if (depth == counters_.size()) return leaves() ? std::optional(pointText()) : std::nullopt;
    UOp counter = counters_[depth];
    int64_t first = counter.bounds().min, last = counter.bounds().max;
    if (counter.op() != Op::Var) {
      std::optional<Scalar> end = at(counter.src(0));  // sources come before users, so its variables are set
      if (end) last = std::min(last, end->asInt() - 1);
    }
    for (int64_t v = first; v <= last; ++v) {
      values_[depth] = v;
      if (auto found = walk(depth + 1)) return found;
    }
    return std::nullopt;
  }

  bool leaves() const {
    if (access_.gate) {
      std::optional<Scalar> open = at(access_.gate);
      if (!open || open->asInt() == 0) return false;
    }
    for (size_t i = 0; i < limits_.size(); ++i) {
      std::optional<Scalar> value = at(access_.index.src(1 + i));
      if (value && (value->asInt() < 0 || value->asInt() >= limits_[i])) return true;
    }
    return false;
  }

  std::string pointText() const {
    std::string out;
    for (size_t i = 0; i < counters_.size(); ++i)
      out += (i == 0 ? "" : ", ") + toExpr(counters_[i]) + " = " + std::to_string(values_[i]);
    return out;
  }

  const Access& access_;
  std::vector<int64_t> limits_;
  int64_t budget_;
  std::vector<UOp> counters_;
  std::vector<int64_t> values_;
  bool known_ = true;
};

Status checkAccess(const Access& access, Stage stage, int64_t budget) {
  std::vector<int64_t> limits = limitsOf(access.index);
  bool inside = true;
  for (size_t i = 0; i < limits.size() && i + 1 < access.index.srcCount(); ++i) {
    Interval at = access.index.src(1 + i).bounds();
    inside &= at.min >= 0 && at.max < limits[i];
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
