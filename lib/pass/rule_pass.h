// Rule sets as passes: one rewrite of the graph that honours --disable-rule and --rule-stats.
#pragma once
#include "pass/pass.h"
#include "rewrite/rewrite.h"

namespace svod {

/// Rewrites with `rules`; `context` is handed to guards and native rules. Rules that never come to an end are an error
/// that names them.
Result<UOp> runRules(UOp root, PassContext& cx, const RuleSet& rules, void* context = nullptr);

/// Adds what a run counted to the log, if rule statistics were asked for.
void tallyRules(PassContext& cx, const Matcher& matcher, const RewriteStats& stats);

/// A row of a pass table: `{"symbolic", "fold and canonicalize", Stage::Kernel, Stage::Kernel, rules<kSymbolic>}`.
template <const RuleSet& kRules>
Result<UOp> rules(UOp root, PassContext& cx) {
  return runRules(root, cx, kRules);
}

}  // namespace svod
