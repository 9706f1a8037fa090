#include <algorithm>

#include "report/plan_text.h"
#include "report/report.h"

namespace svod {

namespace {

std::string onDevice(const std::string& device) { return device.empty() ? "" : " on " + device; }

struct StepText {
  const Plan& plan;
  std::vector<std::string> names = variableNames(plan);

  std::pair<std::string, std::string> operator()(const Launch& launch) const {
    std::string text = plan.kernels[launch.kernel].name;
    for (size_t i = 0; i < launch.values.size(); ++i)
      text += " " + plan.kernels[launch.kernel].values[i] + "=" + toText(launch.values[i], names);
    return {"launch", text + onDevice(deviceText(plan, launch.buffers))};
  }
  std::pair<std::string, std::string> operator()(const Copy& copy) const {
    const std::string from = onDevice(deviceText(plan, {&copy.src, 1})),
                      to = onDevice(deviceText(plan, {&copy.dst, 1}));
    const std::string way = from.empty() || from == to ? to : " from" + from.substr(3) + " to" + to.substr(3);
    return {"copy", toText(copy.bytes, names) + " bytes" + way};
  }
  std::pair<std::string, std::string> operator()(const HostCall& call) const {
    std::string text = call.function;
    for (const Expr& value : call.values) text += " " + toText(value, names);
    return {"host", text};
  }
  std::pair<std::string, std::string> operator()(const Loop& loop) const {
    return {"loop", plan.variables[loop.variable].name + " < " + toText(loop.trips, names) + ", next " +
                        std::to_string(loop.length) + " steps" +
                        (loop.condition ? ", while b" + std::to_string(*loop.condition) : "")};
  }
};

/// Steps on the longest chain of dependencies.
size_t longestChain(const Plan& plan) {
  std::vector<size_t> depth(plan.steps.size());
  size_t longest = 0;
  for (StepId i = 0; i < plan.steps.size(); ++i) {
    for (StepId dep : plan.steps[i].deps) depth[i] = std::max(depth[i], depth[dep]);
    longest = std::max(longest, ++depth[i]);
  }
  return longest;
}

std::string idsText(const std::vector<int64_t>& ids) {
  std::string text;
  for (int64_t id : ids) text += (text.empty() ? "b" : " b") + std::to_string(id);
  return text;
}

Table stepTable(const Plan& plan) {
  Table table{"steps",
              {{"id", "id", true},
               {"kind", "step"},
               {"what", "what", false, true},
               {"reads", "reads", false, true},
               {"writes", "writes"},
               {"deps", "after steps"}},
              {}};
  table.anchor = kStepAnchor;
  const StepText text{plan};
  for (StepId i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const auto [kind, what] = std::visit(text, step.action);
    const StepUse use = useOf(plan, step);
    const Launch* launch = std::get_if<Launch>(&step.action);
    table.rows.push_back({i, kind, launch == nullptr ? Cell(what) : Cell(what).to(kernelAnchor(launch->kernel)),
                          Cell(use.reads, idsText(use.reads)), Cell(use.writes, idsText(use.writes)),
                          Cell(Cell::Numbers(step.deps.begin(), step.deps.end()))});
  }
  return table;
}

}  // namespace

Section stepsOf(const Plan& plan, bool full) {
  size_t edges = 0;
  for (const Step& step : plan.steps) edges += step.deps.size();
  Section section{"steps", "Steps"};
  section.blocks.push_back(FactList{{"count", "steps", plan.steps.size()},
                                    {"edges", "edges", edges},
                                    {"longestChain", "longest chain", longestChain(plan)}});
  if (full) section.blocks.push_back(stepTable(plan));
  return section;
}

}  // namespace svod
