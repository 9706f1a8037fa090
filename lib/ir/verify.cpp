// The walk over a graph: stage membership, the rule tables and open ranges.
#include "ir/verify.h"

#include <algorithm>

#include "ir/text.h"
#include "ir/verify_access.h"

namespace svod {

tl::unexpected<Error> violation(UOp node, Stage stage, std::string_view rule, const std::string& wrong) {
  return fail(Error(Diag::Verify,
                    "stage " + std::string(toText(stage)) + ", rule " + std::string(rule) + ": " +
                        std::string(toText(node.op())) + ": " + wrong,
                    "--print-before and --print-after show the graph around the pass that made this node")
                  .withNote("node: " + toLineText(node)));
}

namespace {

Status checkNode(UOp node, Stage stage) {
  auto bit = static_cast<uint8_t>(stage);
  if ((info(node.op()).stages & bit) == 0) return violation(node, stage, "stage", "does not belong to this stage");
  NodeView view{node.op(), node.dtype(), node.src(), node.arg()};
  for (std::span<const SpecRule> table : {structuralRules(), valueRules(), storageRules(), gpuRules()})
    for (const SpecRule& rule : table) {
      if ((rule.stages & bit) == 0 || !rule.covers(node.op())) continue;
      if (std::string wrong = rule.check(view); !wrong.empty()) return violation(node, stage, rule.name, wrong);
    }
  return {};
}

}  // namespace

Status verify(UOp root, Stage stage, const VerifyOptions& options) {
  if (root.op() != Op::Sink) return violation(root, stage, "root", "the root of a graph is a sink");
  for (UOp node : toposort(root)) SVOD_CHECK(checkNode(node, stage));
  if (stage != Stage::Tensor && options.enumerate > 0) SVOD_CHECK(checkAccesses(root, stage, options.enumerate));
  if (!root.ranges().empty())
    return violation(root.ranges()[0], stage, "open-range", "is still open at the sink; an end must close it");
  return {};
}

Status checkFills(UOp root) {
  constexpr std::string_view kRule = "lone-fill";
  const SpecRule& rule = *std::ranges::find(gpuRules(), kRule, &SpecRule::name);
  for (UOp node : toposort(root)) {
    if (!rule.covers(node.op())) continue;
    const std::string wrong = rule.check({node.op(), node.dtype(), node.src(), node.arg()});
    if (!wrong.empty()) return violation(node, Stage::Lowered, kRule, wrong);
  }
  return {};
}

}  // namespace svod
