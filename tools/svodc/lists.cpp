#include "lists.h"

#include <algorithm>
#include <map>

#include "choose/strategies.h"
#include "cost/parameters.h"
#include "driver/kernel_passes.h"
#include "flags.h"
#include "frontend/graph_op.h"
#include "ir/dtype.h"
#include "ir/op.h"
#include "opts/opt.h"
#include "report/plan_text.h"
#include "schedule/graph_passes.h"
#include "symbolic/symbolic.h"
#include "target/target.h"
#include "tensor/parameters.h"

namespace svod {

namespace {

Table listOps(const Flags&) {
  Table table{"ops", {{"name", "op"}, {"operands", "operands"}, {"attributes", "attributes"}, {"what", "meaning"}}, {}};
  for (const GraphOp& op : allGraphOps()) table.rows.push_back({op.name, op.operands, op.attributes, op.what});
  return table;
}

std::string stagesText(uint8_t stages) {
  std::string text;
  for (Stage stage : {Stage::Tensor, Stage::Kernel, Stage::Lowered, Stage::Linear})
    if ((stages & static_cast<uint8_t>(stage)) != 0) text += (text.empty() ? "" : " ") + std::string(toText(stage));
  return text;
}

Table listUops(const Flags&) {
  Table table{"uops",
              {{"name", "op"}, {"min", "min", true}, {"max", "max", true}, {"stages", "stages"}, {"what", "meaning"}},
              {}};
  for (Op op : allOps()) {
    const OpInfo& row = info(op);
    const Cell most = row.maxSrc == kAny ? Cell(-1, "any") : Cell(row.maxSrc);
    table.rows.push_back({row.text, row.minSrc, most, stagesText(row.stages), row.what});
  }
  return table;
}

/// The numerics modes in which a group of rules is used.
std::string modesText(const RuleGroup* group) {
  std::string text;
  for (Numerics mode : {Numerics::Strict, Numerics::Contract, Numerics::Fast}) {
    const auto groups = kernelRules(mode).all();
    if (std::find(groups.begin(), groups.end(), group) != groups.end())
      text += (text.empty() ? "" : " ") + std::string(toText(mode));
  }
  return text;
}

Table listRules(const Flags&) {
  Table table{"rules", {{"group", "group"}, {"name", "rule"}, {"modes", "numerics"}, {"rule", "equation"}}, {}};
  for (const RuleGroup* group : kernelRules(Numerics::Fast).all())
    for (const Rule& rule : group->rules)
      table.rows.push_back({group->name, rule.name, modesText(group), toText(rule)});
  return table;
}

/// Of the tables of these targets, each pass once, in an order that all of them have.
std::vector<const Pass*> passesOf(std::span<const Target* const> targets) {
  std::vector<const Pass*> all;
  for (const Target* target : targets) {
    size_t at = 0;
    for (std::span<const Pass> passes : passTables(*target))
      for (const Pass& pass : passes) {
        auto known = std::ranges::find(all, pass.name, [](const Pass* p) { return p->name; });
        if (known == all.end()) known = all.insert(all.begin() + static_cast<ptrdiff_t>(at), &pass);
        at = static_cast<size_t>(known - all.begin()) + 1;
      }
  }
  return all;
}

Table listPasses(const Flags& flags) {
  Table table{"passes",
              {{"name", "pass"},
               {"in", "from"},
               {"out", "to"},
               {"optional", "optional"},
               {"targets", "targets"},
               {"what", "meaning"}},
              {}};
  std::map<std::string_view, Cell::Words> targetsOf;
  std::vector<const Target*> shown;
  for (const Target* target : targets()) {
    for (std::span<const Pass> passes : passTables(*target))
      for (const Pass& pass : passes) targetsOf[pass.name].emplace_back(target->name);
    if (flags.target.empty() || flags.target == target->name) shown.push_back(target);
  }
  for (const Pass* pass : passesOf(shown))
    table.rows.push_back(
        {pass->name, toText(pass->in), toText(pass->out), pass->optional, targetsOf[pass->name], pass->what});
  return table;
}

Table listTargets(const Flags&) {
  Table table{"targets", {{"name", "target"}, {"what", "makes"}}, {}};
  for (const Target* target : targets()) table.rows.push_back({target->name, target->what});
  return table;
}

std::string commandsText(CommandBits bits) {
  constexpr std::pair<CommandBits, std::string_view> kNames[] = {
      {Compile, "compile"}, {Inspect, "inspect"}, {Check, "check"}, {Convert, "convert"},
      {Targets, "targets"}, {Cache, "cache"},     {Log, "log"},     {Tune, "tune"}};
  std::string text;
  for (const auto& [bit, name] : kNames)
    if ((bits & bit) != 0) text += (text.empty() ? "" : " ") + std::string(name);
  return bits == All ? "all" : text;
}

Table listFlags(const Flags&) {
  Table table{"flags",
              {{"name", "flag"},
               {"value", "value"},
               {"default", "default"},
               {"commands", "commands"},
               {"changesOutput", "changes the plan"},
               {"environment", "environment"},
               {"what", "meaning"}},
              {}};
  for (const FlagInfo& row : allFlags())
    table.rows.push_back({"--" + std::string(row.name), row.value, row.preset, commandsText(row.commands),
                          row.changes == Changes::Output, row.env, row.what});
  for (const List& list : allLists())
    table.rows.push_back({"--" + std::string(list.flag), "", "", "all", false, "", list.what});
  return table;
}

Table listOpts(const Flags&) {
  Table table{"opts", {{"name", "opt"}, {"signature", "form"}, {"what", "meaning"}}, {}};
  for (const OptInfo& row : allOpts()) table.rows.push_back({row.name, row.signature, row.what});
  return table;
}

Table listStrategies(const Flags&) {
  Table table{"strategies", {{"phase", "for"}, {"name", "strategy"}, {"what", "meaning"}}, {}};
  for (const StrategyRow& row : allStrategies()) table.rows.push_back({row.phase, row.name, row.what});
  return table;
}

Table listTunables(const Flags&) {
  Table table{"tunables", {{"name", "tunable"}, {"value", "value", true}, {"from", "from"}, {"what", "meaning"}}, {}};
  for (const std::span<const ParameterInfo> rows : {graphParameters(), allParameters()})
    for (const ParameterInfo& row : rows) table.rows.push_back({row.name, row.value, toText(row.origin), row.what});
  return table;
}

Table listDTypes(const Flags&) {
  Table table{"dtypes", {{"name", "dtype"}, {"bits", "bits", true}, {"what", "meaning"}}, {}};
  for (DType dtype : allDTypes()) table.rows.push_back({toText(dtype), info(dtype).bits, info(dtype).what});
  return table;
}

Table listDiagnostics(const Flags&) {
  Table table{"diagnostics", {{"code", "code"}, {"exitCode", "exit", true}, {"what", "meaning"}}, {}};
  for (const DiagInfo& row : allDiagnostics()) table.rows.push_back({row.code, row.exitCode, row.what});
  return table;
}

constexpr List kLists[] = {
    {"ops", "list-ops", "ops a graph file can name", listOps},
    {"uops", "list-uops", "ops of the compiler's own graph", listUops},
    {"rules", "list-rules", "rewrite rules", listRules},
    {"passes", "list-passes", "passes over the graph and over each kernel, in order; with --target those of one target",
     listPasses},
    {"opts", "list-opts", "schedule decisions for --opts", listOpts},
    {"strategies", "list-strategies", "how opts are chosen, in the order in which it is tried", listStrategies},
    {"tunables", "list-tunables", "numbers that strategies compare with", listTunables},
    {"targets", "list-targets", "targets for --target", listTargets},
    {"flags", "list-flags", "flags of all commands", listFlags},
    {"dtypes", "list-dtypes", "element types", listDTypes},
    {"diagnostics", "list-diagnostics", "error codes and their exit status", listDiagnostics},
};

}  // namespace

std::span<const List> allLists() { return kLists; }

}  // namespace svod
