#include "pass/rule_pass.h"

namespace svod {

void tallyRules(PassContext& cx, const Matcher& matcher, const RewriteStats& stats) {
  if (!cx.options.ruleStats) return;
  for (size_t i = 0; i < stats.counts.size(); ++i) {
    if (stats.counts[i].attempts == 0) continue;
    RuleTally& tally = cx.log.rules[std::string(matcher.rules()[i]->name)];
    tally.attempts += stats.counts[i].attempts;
    tally.hits += stats.counts[i].hits;
  }
}

Result<UOp> runRules(UOp root, PassContext& cx, const RuleSet& rules, void* context) {
  std::vector<std::string_view> disabled(cx.options.disabledRules.begin(), cx.options.disabledRules.end());
  Matcher matcher(rules, disabled);
  RewriteStats stats;
  UOp result = rewrite(cx.graph, root, matcher, &stats, context);
  tallyRules(cx, matcher, stats);
  if (stats.trouble.empty()) return result;
  return fail(Diag::Verify, "rules do not come to an end: " + stats.trouble,
              "find the pair with --disable-rule; one of them must not undo the other");
}

}  // namespace svod
