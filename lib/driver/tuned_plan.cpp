#include "driver/tuned_plan.h"

#include "data/sha256.h"
#include "driver/kernel_job.h"
#include "driver/tuned_opts.h"
#include "ir/gpu_op.h"
#include "ir/model_text.h"
#include "ir/text.h"
#include "schedule/graph_passes.h"

namespace svod {

namespace {

/// Those of a log, and what is asked for besides, which wins. Errors: those of parseDecision().
Result<DecisionRequests> requestsOf(const PlanWinner& winner, const DecisionRequests& asked) {
  DecisionRequests all = asked;
  for (const std::string& line : winner.decisions) {
    SVOD_TRY(const Decision decision, parseDecision(line));
    if (all.values.emplace(decision.name, decision.value()).second) all.tuned.insert(decision.name);
  }
  return all;
}

}  // namespace

std::string graphHash(const Model& model) {
  std::string text = "svod tuning graph 1\n";
  const std::vector<UOp> order = toposort(model.sink);
  for (size_t i = 0; i < order.size(); ++i) {
    if (const auto label = model.labels.find(order[i].id()); label != model.labels.end())
      text += std::to_string(i) + " " + label->second + "\n";
    if (order[i].op() != Op::Buffer) continue;
    const ModelPort& port = model.ports.at(static_cast<size_t>(order[i].argAs<SlotArg>().slot));
    text += std::to_string(i) + " " + std::string(toText(port.kind)) + " " + port.name + "\n";
  }
  return sha256Hex(text + toUopText(model.sink)).substr(0, 32);
}

ScheduleOptions scheduleOptions(const CompileOptions& options) {
  const Caps caps = options.target->caps(options.machine, options.numerics);
  ScheduleOptions schedule{options.numerics, graphMachine(caps), options.passes, options.decisions};
  for (const DeviceTarget& device : options.devices)
    if (device.target->caps(device.machine, options.numerics).workgroups) schedule.machine.viewBytes = kAccessBytes;
  return schedule;
}

Result<std::optional<Schedule>> scheduleTuned(Model& model, UOp folded, const CompileOptions& options, PassLog& log,
                                              TunedDecisions& tuned) {
  ScheduleOptions schedule = scheduleOptions(options);
  if (options.tuning != nullptr && options.optLevel > 0) {
    const std::string graph = graphHash(model), target = tuningTarget(options);
    tuned.known = knowledgeOfPlans(*options.tuning, graph, target);
    for (const PlanWinner& winner : planWinnersOf(*options.tuning, graph, target, options.compiler)) {
      Result<DecisionRequests> requests = requestsOf(winner, options.decisions);
      if (!requests) {
        tuned.passed.push_back(requests.error()->message);
        continue;
      }
      schedule.decisions = std::move(*requests);
      PassLog own;
      Result<std::optional<Schedule>> made = runGraphPasses(model, folded, schedule, own);
      if (!made && made.error()->diag == Diag::Usage) {  // it has other decisions
        tuned.passed.push_back(made.error()->message);
        continue;
      }
      tuned.used = schedule.decisions.tuned.size();
      log = std::move(own);
      return made;
    }
  }
  schedule.decisions = options.decisions;
  return runGraphPasses(model, folded, schedule, log);
}

}  // namespace svod
