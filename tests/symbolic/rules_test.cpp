// Soundness of every declarative rule: both sides have the same value for random and edge values of every dtype the
// rule admits. A rule that is never exercised fails, so that a wrong pattern cannot hide.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "evaluate.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

struct Instance {
  UOp node;
  std::vector<UOp> leaves;
};

// Random expressions that match a pattern.
class Sampler {
 public:
  Sampler(Graph& graph, Random& random, bool fast) : graph_(graph), random_(random), fast_(fast) {}

  Instance sample(const Pat& pat, DType operand) {
    instance_ = {};
    captured_ = {};
    pat_ = &pat;
    common_ = pick(random_, 0, 3) == 0;
    instance_.node = root(operand);
    return instance_;
  }

  Scalar value(DType d, Interval bounds) {
    if (isFloat(d)) return floatValue(d);
    if (d == DType::U64) return Scalar::ofInt(d, edge(INT64_MIN, INT64_MAX));
    return Scalar::ofInt(d, edge(bounds.min, bounds.max));
  }

 private:
  int64_t edge(int64_t min, int64_t max) {
    switch (pick(random_, 0, 5)) {
      case 0: return min;
      case 1: return max;
      case 2: return std::clamp<int64_t>(pick(random_, -3, 3), min, max);
      default: break;
    }
    uint64_t span = static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
    return span == UINT64_MAX ? static_cast<int64_t>(random_())
                              : static_cast<int64_t>(static_cast<uint64_t>(min) + random_() % (span + 1));
  }

  Scalar floatValue(DType d) {
    if (fast_) {
      int64_t v = pick(random_, 1, 4);
      return Scalar::ofFloat(d, static_cast<double>(pick(random_, 0, 1) ? v : -v));
    }
    constexpr double kEdges[] = {0.0, -0.0,  1.0,    -1.0,    INFINITY, -INFINITY, NAN,
                                 0.5, 1e-45, 3.5e38, 65504.0, 1e-300,   0x1p-1074};
    if (pick(random_, 0, 1)) return Scalar::ofFloat(d, kEdges[pick(random_, 0, std::size(kEdges) - 1)]);
    return Scalar::ofFloat(
        d, std::ldexp(static_cast<double>(pick(random_, -1000000, 1000000)), static_cast<int>(pick(random_, -24, 8))));
  }

  UOp constant(DType d) {
    if (isFloat(d)) return graph_.constant(floatValue(d));
    if (d == DType::Bool) return graph_.boolean(pick(random_, 0, 1));
    int64_t bits = info(d).bits;
    if (d == DType::Index) return graph_.index(pick(random_, -9, 9));
    switch (pick(random_, 0, 4)) {
      case 0: return graph_.constant(Scalar::ofInt(d, (int64_t{1} << pick(random_, 0, bits - 2)) - 1));
      case 1: return graph_.constant(Scalar::ofInt(d, -(int64_t{1} << pick(random_, 0, bits - 2))));
      case 2: return graph_.constant(Scalar::ofInt(d, edge(minInt(d), maxInt(d))));
      default: return graph_.constant(Scalar::ofInt(d, pick(random_, 0, 5)));
    }
  }

  UOp leaf(DType d) {
    Interval bounds{0, 0};
    if (d == DType::Bool)
      bounds = {0, 1};
    else if (isFloat(d))
      bounds = {};
    else if (d == DType::Index)
      bounds = {-40, 40};
    else
      bounds = {minInt(d), maxInt(d)};
    if (isInt(d) && d != DType::U64 && pick(random_, 0, 1))
      bounds.min = std::clamp(pick(random_, 0, 2), bounds.min, bounds.max);
    if (isInt(d) && d != DType::U64 && pick(random_, 0, 2) == 0)
      bounds.max = std::min(maxInt(d), bounds.min + pick(random_, 0, 9));
    std::string name = "v" + std::to_string(instance_.leaves.size());
    UOp n = graph_.make(Op::Var, d, std::span<const UOp>{}, VarArg{name, bounds.min, bounds.max});
    instance_.leaves.push_back(n);
    return n;
  }

  DType anyDType() {
    static const DType kSome[] = {DType::Bool, DType::I8,  DType::I32, DType::I64,  DType::U8,
                                  DType::U64,  DType::F16, DType::F32, DType::Index};
    if (fast_) return DType::F32;
    return kSome[pick(random_, 0, std::size(kSome) - 1)];
  }

  UOp root(DType operand) {
    const PatNode& n = pat_->nodes[0];
    DType result = operand;
    if (n.kind == PatKind::Apply && n.op == Op::Cast) result = anyDType();
    at_ = 0;
    return subtree(result, operand);
  }

  // `operand`: dtype for the sources of the root when it differs from the result's.
  UOp subtree(DType result, DType operand) {
    const PatNode& n = pat_->nodes[at_++];
    switch (n.kind) {
      case PatKind::Value:
      case PatKind::Constant: {
        UOp& slot = captured_[n.slot];
        if (slot && slot.dtype() != result) mismatch = true;
        if (!slot) {
          slot = n.kind == PatKind::Constant ? constant(result) : leaf(result);
          if (n.kind == PatKind::Constant && common_) {
            if (common_ && shared_ && shared_.dtype() == result) slot = shared_;
            shared_ = slot;
          }
        }
        return slot;
      }
      case PatKind::Literal: return graph_.constant(Scalar::of(result, n.imm));
      default: break;
    }
    DType source = result;
    if (n.op == Op::Cast) source = operand;
    if (has(n.op, Comparison)) source = &n == &pat_->nodes[0] ? operand : knownBelow(at_ - 1);
    std::vector<UOp> src;
    for (int i = 0; i < n.srcs; ++i) {
      DType d = n.op == Op::Where && i == 0 ? DType::Bool : source;
      src.push_back(subtree(d, d));
    }
    return n.op == Op::Cast ? graph_.make(Op::Cast, result, src) : graph_.alu(n.op, src);
  }

  // dtype of the operands of a comparison inside the pattern: that of a capture already made, else any.
  DType knownBelow(int at) {
    for (int i = at; i < at + pat_->nodes[at].size; ++i) {
      const PatNode& n = pat_->nodes[i];
      if ((n.kind == PatKind::Value || n.kind == PatKind::Constant) && captured_[n.slot])
        return captured_[n.slot].dtype();
    }
    for (int i = at + pat_->nodes[at].size; i < pat_->count; ++i) {  // used again behind with the root's dtype
      const PatNode& n = pat_->nodes[i];
      for (int j = at; j < at + pat_->nodes[at].size; ++j)
        if (n.kind == PatKind::Value && pat_->nodes[j].kind == PatKind::Value && pat_->nodes[j].slot == n.slot)
          return rootDType;
    }
    return anyDType();
  }

 public:
  bool mismatch = false;
  DType rootDType = DType::Void;

 private:
  Graph& graph_;
  Random& random_;
  bool fast_, common_ = false;
  UOp shared_;
  const Pat* pat_ = nullptr;
  int at_ = 0;
  std::array<UOp, kMaxCaptures> captured_{};
  Instance instance_;
};

bool mentions(const Pat& pat, Op a, Op b) {
  for (int i = 0; i < pat.count; ++i)
    if (pat.nodes[i].kind == PatKind::Apply && (pat.nodes[i].op == a || pat.nodes[i].op == b)) return true;
  return false;
}

bool sameValue(const Rule& rule, const Scalar& a, const Scalar& b, bool fast) {
  if (a == b) return true;
  if (!isFloat(a.dtype())) return false;
  double u = a.asFloat(), v = b.asFloat();
  bool zeros = u == 0 && v == 0;  // max and min may return either zero
  if (zeros && (fast || mentions(rule.lhs, Op::Max, Op::Min))) return true;
  return fast && std::abs(u - v) <= std::ldexp(std::max(std::abs(u), std::abs(v)), 1 - info(a.dtype()).fractionBits);
}

void checkRule(const Rule& rule, DType dtype, Random& random, bool fast, std::set<DTypeKind>& exercised) {
  int hits = 0;
  for (int attempt = 0; attempt < 3000 && hits < 25; ++attempt) {
    Graph g;
    Sampler sampler(g, random, fast);
    sampler.rootDType = dtype;
    Instance instance = sampler.sample(rule.lhs, dtype);
    if (sampler.mismatch) continue;
    UOp by = applyRule(rule, g, instance.node);
    if (!by) continue;
    ++hits;
    exercised.insert(info(dtype).kind);
    for (int trial = 0; trial < 12; ++trial) {
      Leaves leaves;
      for (UOp l : instance.leaves) leaves[l.id()] = sampler.value(l.dtype(), l.bounds());
      Scalar before = evaluate(instance.node, leaves), after = evaluate(by, leaves);
      if (sameValue(rule, before, after, fast)) continue;
      std::string values;
      for (UOp l : instance.leaves) values += describe(l) + " = " + toText(leaves[l.id()]) + "  ";
      INFO(toText(rule) << "\n"
                        << toText(dtype) << ": " << describe(instance.node) << " -> " << describe(by) << "\n"
                        << values << "\n"
                        << toText(before) << " became " << toText(after));
      FAIL(rule.name);
    }
  }
}

}  // namespace

TEST_CASE("declarative rules are sound and exercised") {
  Random random(7);
  for (const RuleGroup* group : kSymbolicFast.all()) {
    bool fast = group->name == "fast";
    for (const Rule& rule : group->rules) {
      if (rule.native) continue;
      std::set<DTypeKind> exercised, admitted;
      for (DType d : allDTypes()) {
        if (d == DType::Void || !rule.domain.holds(d)) continue;
        const PatNode& root = rule.lhs.nodes[0];
        if (isFloat(d) && has(root.op, IntOnly)) continue;
        if (!isFloat(d) && has(root.op, FloatOnly)) continue;
        if (!isComputedIn(d) || (fast && isMinifloat(d))) continue;
        admitted.insert(info(d).kind);
        checkRule(rule, d, random, fast, exercised);
      }
      INFO(rule.name << ": " << toText(rule));
      CHECK(exercised == admitted);
    }
  }
}

TEST_CASE("rule names are unique") {
  std::set<std::string_view> names;
  for (const RuleGroup* group : kSymbolicFast.all())
    for (const Rule& rule : group->rules) {
      INFO(rule.name);
      CHECK(names.insert(rule.name).second);
    }
}
