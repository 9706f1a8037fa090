// Algebraic simplification of expressions: rule sets for passes, and direct calls for index expressions and gates.
#pragma once
#include <optional>

#include "ir/numerics.h"
#include "rewrite/rewrite.h"
#include "symbolic/facts.h"
#include "symbolic/linear.h"

namespace svod {

/// Sound for every dtype in every numerics mode.
extern const RuleSet kSymbolic;
/// kSymbolic and the rules that numerics mode `fast` allows in addition.
extern const RuleSet kSymbolicFast;

/// kSymbolic prepared once per process; immutable, shared by all threads.
const Matcher& symbolicMatcher();

/// Rules for whole kernels: kSymbolic (or kSymbolicFast), gates onto loads and stores, and reductions with a closed
/// form. Sound in the given mode.
const RuleSet& kernelRules(Numerics numerics);
/// kernelRules prepared once per process; immutable, shared by all threads.
const Matcher& kernelMatcher(Numerics numerics);
/// One run of kernelRules over a kernel (or a part of one). Ranges keep their identity.
UOp simplifyKernel(Graph& graph, UOp root, Numerics numerics, RewriteStats* stats = nullptr);

/// Simplifies many expressions of one graph and remembers the results. Range nodes are never replaced, so that
/// results speak of the caller's ranges; a lone range with one value becomes a constant. Not thread-safe.
class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph), rewriter_(graph, symbolicMatcher(), nullptr, KeepNodes::Ranges) {}
  UOp operator()(UOp expr);

 private:
  Graph& graph_;
  Rewriter rewriter_;
};

/// One call of a Simplifier, without memory between calls: microseconds for an expression of a few nodes.
UOp simplify(Graph& graph, UOp expr);
/// `expr` simplified where `gate` holds: equal to `expr` whenever the gate is true, anything otherwise. Loads inside
/// stay as they are, because they happen whether the gate holds or not.
UOp simplifyUnder(Graph& graph, UOp expr, UOp gate);
/// An equivalent gate: clauses implied by others are gone, the others simplified given the rest.
UOp simplifyGate(Graph& graph, UOp gate);

/// The clauses of an And chain, and the chain of clauses (true when there is none).
std::vector<UOp> splitClauses(UOp gate);
UOp joinClauses(Graph& graph, std::span<const UOp> clauses);

/// c when expr == c * range + (something without range), which gives the stride of an access; simplify `expr` first.
std::optional<int64_t> coefficientOf(UOp expr, UOp range);

}  // namespace svod
