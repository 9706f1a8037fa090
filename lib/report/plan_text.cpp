#include "report/plan_text.h"

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

std::vector<int64_t> largestValues(const KernelDesc& kernel, const Plan& plan) {
  std::vector<int64_t> largest;
  for (const std::string& name : kernel.values) {
    largest.push_back(1);
    for (const Variable& v : plan.variables)
      if (v.name == name) largest.back() = v.kind == VariableKind::Fixed ? v.value : v.max;
  }
  return largest;
}

Cell estimateCell(const Expr& expr, const KernelDesc& kernel, const Plan& plan) {
  const std::optional<int64_t> most = expr.tryEvaluate(largestValues(kernel, plan));
  if (expr.constant() || !most) return exprCell(expr, kernel.values);
  return Cell(*most, "<=" + countCell(*most).text());
}

Cell tilesCell(const KernelDesc& kernel, const Plan& plan) {
  const Expr pieces =
      kernel.grid ? kernel.grid->groups[0] * kernel.grid->groups[1] * kernel.grid->groups[2] : kernel.tiles;
  const std::optional<int64_t> most = pieces.tryEvaluate(largestValues(kernel, plan));
  if (pieces.constant() || !most) return exprCell(pieces, kernel.values);
  return Cell(*most, svod::toText(pieces, kernel.values));
}

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
