#include "symbolic/symbolic.h"

#include <algorithm>

#include "symbolic/groups.h"

namespace svod {

constinit const RuleSet kSymbolic{"symbolic",
                                  {&kConstantRules, &kNeutralRules, &kBoundsRules, &kBoolRules, &kBitRules, &kCastRules,
                                   &kWhereRules, &kSumRules, &kCompareRules, &kIndexRules}};

constinit const RuleSet kSymbolicFast{
    "symbolic-fast",
    {&kConstantRules, &kNeutralRules, &kBoundsRules, &kBoolRules, &kBitRules, &kCastRules, &kWhereRules, &kSumRules,
     &kCompareRules, &kIndexRules, &kFastRules}};

namespace {

constinit const RuleSet kKernelStrict{
    "kernel-strict",
    {&kConstantRules, &kNeutralRules, &kBoundsRules, &kBoolRules, &kBitRules, &kCastRules, &kWhereRules, &kSumRules,
     &kCompareRules, &kIndexRules, &kAccessRules, &kOpenGateRules, &kReduceRules}};
constinit const RuleSet kKernelContract{
    "kernel-contract",
    {&kConstantRules, &kNeutralRules, &kBoundsRules, &kBoolRules, &kBitRules, &kCastRules, &kWhereRules, &kSumRules,
     &kCompareRules, &kIndexRules, &kAccessRules, &kOpenGateRules, &kReduceRules, &kReduceContractRules,
     &kConstantContractRules}};
constinit const RuleSet kKernelFast{
    "kernel-fast",
    {&kConstantRules, &kNeutralRules, &kBoundsRules, &kBoolRules, &kBitRules, &kCastRules, &kWhereRules, &kSumRules,
     &kCompareRules, &kIndexRules, &kFastRules, &kAccessRules, &kOpenGateRules, &kReduceRules, &kReduceContractRules,
     &kReduceFastRules, &kConstantContractRules}};

}  // namespace

const RuleSet& kernelRules(Numerics numerics) {
  if (numerics == Numerics::Strict) return kKernelStrict;
  return numerics == Numerics::Contract ? kKernelContract : kKernelFast;
}

const Matcher& kernelMatcher(Numerics numerics) {
  static const Matcher kMatchers[] = {Matcher(kKernelStrict), Matcher(kKernelContract), Matcher(kKernelFast)};
  return kMatchers[static_cast<size_t>(numerics)];
}

UOp simplifyKernel(Graph& graph, UOp root, Numerics numerics, RewriteStats* stats) {
  return Rewriter(graph, kernelMatcher(numerics), nullptr, KeepNodes::Ranges).run(root, stats);
}

const Matcher& symbolicMatcher() {
  static const Matcher kMatcher(kSymbolic);
  return kMatcher;
}

namespace {

UOp foldLoneRange(Graph& graph, UOp n) {
  return n.op() == Op::Range && n.bounds().isConst() ? graph.index(n.bounds().min) : n;
}

}  // namespace

UOp Simplifier::operator()(UOp expr) { return foldLoneRange(graph_, rewriter_.run(expr)); }

UOp simplify(Graph& graph, UOp expr) { return Simplifier(graph)(expr); }

UOp simplifyUnder(Graph& graph, UOp expr, UOp gate) {
  expr = simplify(graph, expr);
  if (gate.isConst() || expr.isConst()) return expr;
  Facts facts;
  facts.assume(simplify(graph, gate));
  if (facts.empty() || facts.contradictory()) return expr;
  if (Interval b = facts.of(expr);
      b.isConst() && expr.isScalar() && (expr.dtype() == DType::Index || expr.dtype() == DType::Bool))
    return graph.constant(Scalar::ofInt(expr.dtype(), b.min));
  SymbolicContext context{&facts};
  UOp result = Rewriter(graph, symbolicMatcher(), &context, KeepNodes::RangesAndLoads).run(expr);
  return foldLoneRange(graph, result);
}

std::vector<UOp> splitClauses(UOp gate) {
  std::vector<UOp> clauses, pending{gate};
  while (!pending.empty()) {
    UOp n = pending.back();
    pending.pop_back();
    if (n.op() == Op::And && n.dtype() == DType::Bool)
      pending.insert(pending.end(), {n.src(1), n.src(0)});
    else if (!n.isConst(1))
      clauses.push_back(n);
  }
  return clauses;
}

UOp joinClauses(Graph& graph, std::span<const UOp> clauses) {
  UOp chain;
  for (UOp c : clauses) chain = chain ? graph.alu(Op::And, {chain, c}) : c;
  return chain ? chain : graph.boolean(true);
}

UOp simplifyGate(Graph& graph, UOp gate) {
  gate = simplify(graph, gate);
  std::vector<UOp> clauses = splitClauses(gate);
  if (clauses.size() < 2) return gate;
  for (size_t i = 0; i < clauses.size();) {
    Facts facts;
    for (size_t j = 0; j < clauses.size(); ++j)
      if (j != i) facts.assume(clauses[j]);
    if (facts.contradictory()) return graph.boolean(false);
    SymbolicContext context{&facts};
    UOp c = Rewriter(graph, symbolicMatcher(), &context, KeepNodes::RangesAndLoads).run(clauses[i]);
    if (c.isConst(0)) return c;
    if (c.isConst(1)) {
      clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      clauses[i++] = c;
    }
  }
  return simplify(graph, joinClauses(graph, clauses));
}

std::optional<int64_t> coefficientOf(UOp expr, UOp range) {
  Linear form = linearOf(expr);
  if (form.overflow) return std::nullopt;
  int64_t coef = 0;
  for (const Term& t : form.terms) {
    if (t.base == range)
      coef = t.coef;
    else if (t.base.dependsOn(range))
      return std::nullopt;
  }
  return coef;
}

}  // namespace svod
