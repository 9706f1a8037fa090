#include "report/plan_text.h"

#include <algorithm>

#include "plan/memory_plan.h"

namespace svod {

std::string_view toText(Place place) {
  constexpr std::string_view kNames[] = {"arena", "input", "output", "state", "constant", "view"};
  return kNames[static_cast<size_t>(place)];
}

std::string_view toText(VariableKind kind) {
  constexpr std::string_view kNames[] = {"free", "fixed", "loop"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view toText(FileKind kind) {
  constexpr std::string_view kNames[] = {"code", "source", "weights", "image"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view toText(Mode mode) {
  return mode == Mode::Read ? "read" : mode == Mode::Write ? "write" : "read-write";
}

std::string typeText(const BufferDesc& buffer) {
  std::string text(nameOf(buffer.dtype));
  for (size_t i = 0; i < buffer.shape.size(); ++i) text += (i > 0 ? "," : "[") + std::to_string(buffer.shape[i]);
  return buffer.shape.empty() ? text : text + "]";
}

std::string typeText(const Plan& plan, const Port& port) {
  std::string text(nameOf(plan.buffers[port.buffer].dtype));
  const std::vector<std::string> names = variableNames(plan);
  for (size_t i = 0; i < port.shape.size(); ++i) text += (i > 0 ? "," : "[") + svod::toText(port.shape[i], names);
  return port.shape.empty() ? text : text + "]";
}

std::string bufferText(const Plan& plan, BufferId id) {
  const std::string& name = plan.buffers[id].name;
  return "b" + std::to_string(id) + (name.empty() ? "" : " " + name);
}

Cell exprCell(const Expr& expr, std::span<const std::string> names) {
  if (auto number = expr.constant()) return countCell(*number);
  return Cell(svod::toText(expr, names));
}

std::vector<int64_t> usualValues(const Plan& plan) {
  std::vector<int64_t> values = likelyValues(plan);
  for (VariableId i = 0; i < values.size(); ++i)
    if (plan.variables[i].kind == VariableKind::Loop) values[i] = plan.variables[i].max;
  return values;
}

std::vector<int64_t> usualValues(const KernelDesc& kernel, const Plan& plan) {
  const std::vector<int64_t> values = usualValues(plan);
  std::vector<int64_t> own;
  for (const std::string& name : kernel.values) {
    auto at = std::ranges::find(plan.variables, name, &Variable::name);
    own.push_back(at == plan.variables.end() ? 1 : values[static_cast<size_t>(at - plan.variables.begin())]);
  }
  return own;
}

std::string likelyText(const Plan& plan) {
  const std::vector<int64_t> values = usualValues(plan);
  std::string text;
  for (VariableId i = 0; i < plan.variables.size(); ++i)
    if (plan.variables[i].kind == VariableKind::Free)
      text += (text.empty() ? "" : ", ") + plan.variables[i].name + " = " + std::to_string(values[i]);
  return text;
}

Cell estimateCell(const Expr& expr, const KernelDesc& kernel, const Plan& plan) {
  const std::optional<int64_t> usual = expr.tryEvaluate(usualValues(kernel, plan));
  if (expr.constant() || !usual) return exprCell(expr, kernel.values);
  return Cell(*usual, "~" + countCell(*usual).text());
}

Cell tilesCell(const KernelDesc& kernel, const Plan& plan) {
  const Expr pieces =
      kernel.grid ? kernel.grid->groups[0] * kernel.grid->groups[1] * kernel.grid->groups[2] : kernel.tiles;
  const std::optional<int64_t> usual = pieces.tryEvaluate(usualValues(kernel, plan));
  if (pieces.constant() || !usual) return exprCell(pieces, kernel.values);
  return Cell(*usual, svod::toText(pieces, kernel.values));
}

std::vector<double> timesOf(const Plan& plan) {
  const std::vector<int64_t> values = usualValues(plan);
  std::vector<double> times(plan.steps.size(), 1);
  for (StepId i = 0; i < plan.steps.size(); ++i) {
    const Loop* loop = std::get_if<Loop>(&plan.steps[i].action);
    if (loop == nullptr) continue;
    const auto trips = static_cast<double>(std::max<int64_t>(loop->trips.tryEvaluate(values).value_or(1), 0));
    const size_t end = std::min(times.size(), size_t{i} + 1 + loop->length);
    for (size_t k = size_t{i} + 1; k < end; ++k) times[k] *= trips;
  }
  return times;
}

/// `conv1.Relu_output_0`, as exporters name the only result of a node, is `conv1.Relu`.
static std::string withoutNumber(const std::string& name) {
  constexpr std::string_view kEnding = "_output_0";
  return name.ends_with(kEnding) && name.size() > kEnding.size() ? name.substr(0, name.size() - kEnding.size()) : name;
}

std::string labelOf(const Plan& plan, const Step& step) {
  if (const HostCall* call = std::get_if<HostCall>(&step.action)) return call->function;
  if (const Loop* loop = std::get_if<Loop>(&step.action)) return "loop " + plan.variables[loop->variable].name;
  for (int64_t id : useOf(plan, step).writes)
    if (const std::string& name = plan.buffers[BufferId(id)].name; !name.empty()) return withoutNumber(name);
  const Launch* launch = std::get_if<Launch>(&step.action);
  return launch == nullptr ? "copy" : plan.kernels[launch->kernel].name;
}

std::string labelOf(const Plan& plan, KernelId kernel) {
  for (const Step& step : plan.steps)
    if (const Launch* launch = std::get_if<Launch>(&step.action); launch != nullptr && launch->kernel == kernel)
      return labelOf(plan, step);
  return plan.kernels[kernel].name;
}

std::string deviceText(const Plan& plan, std::span<const BufferId> buffers) {
  if (plan.devices.size() == 1) return "";
  for (BufferId id : buffers)
    if (std::optional<DeviceId> device = deviceOf(plan, id)) return plan.devices[*device].name;
  return "";
}

std::string deviceText(const Plan& plan, const Step& step) {
  if (const Launch* launch = std::get_if<Launch>(&step.action)) return deviceText(plan, launch->buffers);
  const Copy* copy = std::get_if<Copy>(&step.action);
  return copy == nullptr ? "" : deviceText(plan, {&copy->dst, 1});
}

std::string kernelAnchor(KernelId id) { return "kernel-" + std::to_string(id); }

StepUse useOf(const Plan& plan, const Step& step) {
  StepUse use;
  auto touch = [&](BufferId id, Mode mode) {
    const BufferDesc& buffer = plan.buffers[id];
    const int64_t base = buffer.place == Place::View ? buffer.base : id;
    if (reads(mode)) use.reads.push_back(base);
    if (writes(mode)) use.writes.push_back(base);
  };
  if (const Launch* launch = std::get_if<Launch>(&step.action)) {
    const std::vector<KernelArg>& args = plan.kernels[launch->kernel].args;
    for (size_t i = 0; i < launch->buffers.size(); ++i) touch(launch->buffers[i], args[i].mode);
  } else if (const Copy* copy = std::get_if<Copy>(&step.action)) {
    touch(copy->src, Mode::Read);
    touch(copy->dst, Mode::Write);
  } else if (const HostCall* call = std::get_if<HostCall>(&step.action)) {
    for (const HostArg& arg : call->args) touch(arg.buffer, arg.mode);
  }
  return use;
}

}  // namespace svod
