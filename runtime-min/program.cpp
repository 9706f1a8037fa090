#include "runtime-min/program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/heap_sort.h"

namespace svod {

namespace {

bool usesLoopVariable(const Plan& plan, const Expr& expr) {
  return std::any_of(expr.nodes().begin(), expr.nodes().end(), [&](const ExprNode& node) {
    return node.op == ExprOp::Var && plan.variables[VariableId(node.value)].kind == VariableKind::Loop;
  });
}

bool usesLoopVariable(const Plan& plan, const std::vector<Expr>& exprs) {
  return std::any_of(exprs.begin(), exprs.end(), [&](const Expr& expr) { return usesLoopVariable(plan, expr); });
}

bool isDynamic(const Plan& plan, const Step& step) {
  if (const auto* launch = std::get_if<Launch>(&step.action))
    return usesLoopVariable(plan, launch->values) || std::ranges::any_of(launch->cases, [&](const LaunchCase& one) {
             return usesLoopVariable(plan, one.launch.values);
           });
  if (const auto* call = std::get_if<HostCall>(&step.action))
    return usesLoopVariable(plan, call->values) ||
           std::any_of(call->args.begin(), call->args.end(),
                       [&](const HostArg& arg) { return usesLoopVariable(plan, arg.shape); });
  if (const auto* copy = std::get_if<Copy>(&step.action)) return usesLoopVariable(plan, copy->bytes);
  return false;
}

/// Steps on the longest way from this one to the end of its body: what to start first.
std::vector<uint32_t> urgencies(const Plan& plan) {
  std::vector<uint32_t> urgency(plan.steps.size(), 1);
  for (StepId step(plan.steps.size()); step-- > 0;)
    for (StepId dep : plan.steps[step].deps) urgency[dep] = std::max(urgency[dep], urgency[step] + 1);
  return urgency;
}

uint32_t indexOf(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<uint32_t>(found - names.begin());
  names.push_back(name);
  return static_cast<uint32_t>(names.size() - 1);
}

}  // namespace

Program::Program(const Plan& plan, std::span<const KernelFunction> functions, std::span<const uint32_t> queues)
    : steps(plan.steps.size()), scopes(1) {
  fillSteps(plan, functions);
  if (!queues.empty()) groupSteps(plan, queues);
  linkSteps(plan);
}

Range Program::addArgs(std::span<const BufferId> buffers) {
  const auto begin = static_cast<uint32_t>(argBuffers.size());
  for (BufferId buffer : buffers) argBuffers.push_back(buffer);
  return {begin, static_cast<uint32_t>(argBuffers.size())};
}

ProgramLaunch Program::addLaunch(const Plan& plan, const Launch& launch, KernelFunction function) {
  const uint32_t begin = std::exchange(valueCount, valueCount + static_cast<uint32_t>(launch.values.size()));
  scratchBytes = std::max(scratchBytes, plan.kernels[launch.kernel].scratchBytes);
  return {function, addArgs(launch.buffers), {begin, valueCount}};
}

void Program::fillSteps(const Plan& plan, std::span<const KernelFunction> functions) {
  std::vector<std::pair<uint32_t, StepId>> open = {{0, StepId(plan.steps.size())}};  // scope, end
  for (StepId id = 0; id < plan.steps.size(); id++) {
    while (open.size() > 1 && id == open.back().second) open.pop_back();
    const Step& from = plan.steps[id];
    ProgramStep& step = steps[id];
    step.scope = open.back().first;
    scopes[step.scope].steps.push_back(id);
    step.dynamic = isDynamic(plan, from);
    if (step.dynamic) scopes[step.scope].dynamic.push_back(id);
    if (const auto* launch = std::get_if<Launch>(&from.action)) {
      const ProgramLaunch own = addLaunch(plan, *launch, functions[launch->kernel]);
      step.function = own.function, step.args = own.args, step.values = own.values;
      step.cases.begin = static_cast<uint32_t>(cases.size());
      for (const auto& [when, instead] : launch->cases)
        cases.push_back(addLaunch(plan, instead, functions[instead.kernel]));
      step.cases.end = static_cast<uint32_t>(cases.size());
    } else if (const auto* copy = std::get_if<Copy>(&from.action)) {
      step.kind = StepKind::Copy;
      step.args = addArgs(std::array{copy->dst, copy->src});
    } else if (const auto* call = std::get_if<HostCall>(&from.action)) {
      step.kind = StepKind::Call;
      std::vector<BufferId> buffers;
      for (const HostArg& arg : call->args) buffers.push_back(arg.buffer);
      step.args = addArgs(buffers);
      step.hostFunction = indexOf(hostFunctions, call->function);
      step.call = static_cast<uint32_t>(calls.size());
      calls.push_back(id);
    } else if (const auto* loop = std::get_if<Loop>(&from.action)) {
      step.kind = StepKind::Loop;
      if (loop->condition) step.args = addArgs({&*loop->condition, 1});
      step.body = static_cast<uint32_t>(scopes.size());
      scopes.emplace_back().loop = id;
      if (loop->length > 0) open.emplace_back(step.body, id + 1 + loop->length);
    }
  }
}

/// A level is how often work passes from one queue to another on the way to a step. Steps of one queue and level wait
/// for lower levels only, so all of them can be given when those are done, and levels are an order of everything.
void Program::groupSteps(const Plan& plan, std::span<const uint32_t> queues) {
  std::vector<uint32_t> level(steps.size(), 0);
  uint32_t levels = 0;
  for (StepId id = 0; id < steps.size(); id++) {
    for (StepId dep : plan.steps[id].deps) level[id] = std::max(level[id], level[dep] + (queues[dep] != queues[id]));
    levels = std::max(levels, level[id] + 1);
    if (queues[id] == 0) continue;
    uint32_t at = 0;
    for (; at < segments.size(); at++) {
      const StepId first = segments[at].steps.front();
      if (steps[first].scope == steps[id].scope && level[first] == level[id] && queues[first] == queues[id]) break;
    }
    if (at == segments.size()) segments.emplace_back();
    steps[id].segment = at;
    segments[at].steps.push_back(id);
  }
  for (ProgramScope& scope : scopes) {
    const std::vector<StepId> all = std::exchange(scope.steps, {});
    for (uint32_t at = 0; at < levels; at++)
      for (StepId id : all)
        if (level[id] == at && leaderOf(id) == id) scope.steps.push_back(id);
  }
  for (ProgramSegment& segment : segments)
    for (StepId id : segment.steps)
      for (StepId dep : plan.steps[id].deps)
        if (steps[dep].segment != steps[id].segment || steps[dep].segment == kNoSegment) segment.awaits.push_back(dep);
}

void Program::linkSteps(const Plan& plan) {
  const std::vector<uint32_t> urgency = urgencies(plan);
  const auto lessUrgent = [&](StepId a, StepId b) { return std::pair(urgency[a], b) < std::pair(urgency[b], a); };
  std::vector<std::vector<StepId>> after(plan.steps.size());
  for (const ProgramScope& scope : scopes)
    for (StepId id : scope.steps) {
      const bool isAlone = steps[id].segment == kNoSegment;
      uint32_t& count = steps[id].depCount;
      for (StepId dep : isAlone ? plan.steps[id].deps : segments[steps[id].segment].awaits) {
        std::vector<StepId>& users = after[leaderOf(dep)];  // each is there once, and the last where it is
        if (!users.empty() && users.back() == id) continue;
        users.push_back(id);
        count++;
      }
      if (count == 0) scopes[steps[id].scope].roots.push_back(id);
    }
  for (StepId id = 0; id < plan.steps.size(); id++) {
    heapSort(after[id], lessUrgent);
    steps[id].successors.begin = static_cast<uint32_t>(successors.size());
    successors.insert(successors.end(), after[id].begin(), after[id].end());
    steps[id].successors.end = static_cast<uint32_t>(successors.size());
  }
  for (ProgramScope& scope : scopes) heapSort(scope.roots, lessUrgent);
  isChain = scopes.size() == 1;
  for (StepId id = 1; id < plan.steps.size(); id++)
    isChain = isChain && plan.steps[id].deps == std::vector<StepId>{StepId(id - 1)};
}

}  // namespace svod
