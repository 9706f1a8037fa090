#include "plan/check.h"

#include <algorithm>
#include <set>

#include "plan/check_parts.h"
#include "plan/hazards.h"

namespace svod {

namespace {

constexpr uint64_t kMaxBytes = UINT64_C(1) << 56;  // sums of two sizes never overflow

template <class T>
Status checkNames(const std::vector<T>& rows, const char* list) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < rows.size(); i++)
    if (rows[i].name.empty() || !names.insert(rows[i].name).second)
      return bad(at(list, i), "empty or repeated name");
  return {};
}

Status checkFiles(const Plan& plan) {
  std::set<std::string_view> names = {"plan.json"};
  for (size_t i = 0; i < plan.files.size(); i++) {
    const FileDesc& file = plan.files[i];
    if (!isPlainFileName(file.path))
      return fail(Diag::PlanPath, at("files", i) + ": '" + file.path + "' is not a plain file name",
                  "a plan can only name files of its own directory");
    if (!names.insert(file.path).second) return bad(at("files", i), "'" + file.path + "' is listed twice");
    if (file.bytes > kMaxBytes) return bad(at("files", i), "the size is too large");
    const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (file.sha256.size() != 64 || !std::all_of(file.sha256.begin(), file.sha256.end(), isHex))
      return bad(at("files", i), "the SHA-256 is malformed");
  }
  return {};
}

Status checkConstants(const Plan& plan) {
  for (size_t i = 0; i < plan.constants.size(); i++) {
    const Constant& constant = plan.constants[i];
    if (constant.file >= plan.files.size() || plan.files[constant.file].kind != FileKind::Weights)
      return bad(at("constants", i), "its file is not a weights file of this plan");
    if (constant.offset % kPlanAlignment != 0)
      return bad(at("constants", i), "the offset is not a multiple of 64");
    if (constant.offset > kMaxBytes || constant.bytes > kMaxBytes ||
        constant.offset + constant.bytes > plan.files[constant.file].bytes)
      return bad(at("constants", i), "its bytes lie outside the file");
  }
  return {};
}

Status checkVariables(const Plan& plan) {
  SVOD_CHECK(checkNames(plan.variables, "variables"));
  for (size_t i = 0; i < plan.variables.size(); i++) {
    const Variable& variable = plan.variables[i];
    if (variable.name.find('`') != std::string::npos)
      return bad(at("variables", i), "a backquote in the name");
    if (variable.min > variable.max) return bad(at("variables", i), "the minimum is above the maximum");
    if (variable.kind == VariableKind::Fixed &&
        (variable.value < variable.min || variable.value > variable.max))
      return bad(at("variables", i), "the value lies outside the bounds");
  }
  return {};
}

Status checkPlace(const Plan& plan, const BufferDesc& buffer, const std::string& where) {
  if (buffer.place == Place::Arena) {
    if (buffer.offset % kPlanAlignment != 0) return bad(where, "the arena offset is not a multiple of 64");
    if (buffer.offset > kMaxBytes || buffer.offset + buffer.bytes > plan.arenaBytes)
      return bad(where, "it lies outside the arena");
  }
  if (buffer.place == Place::Constant) {
    if (buffer.constant >= plan.constants.size()) return bad(where, "no such constant");
    if (buffer.bytes > plan.constants[buffer.constant].bytes) return bad(where, "larger than its constant");
  }
  if (buffer.place == Place::View) {
    if (buffer.base >= plan.buffers.size() || plan.buffers[buffer.base].place == Place::View)
      return bad(where, "the base of the view is no buffer, or a view itself");
    if (buffer.offset % byteSize(buffer.dtype) != 0)
      return bad(where, "the view is not aligned for its dtype");
    if (buffer.offset > kMaxBytes || buffer.offset + buffer.bytes > plan.buffers[buffer.base].bytes)
      return bad(where, "the view reaches beyond its base");
  }
  return {};
}

Status checkBuffers(const Plan& plan) {
  if (plan.arenaBytes > kMaxBytes) return bad("arenaBytes", "too large");
  for (size_t i = 0; i < plan.buffers.size(); i++) {
    const BufferDesc& buffer = plan.buffers[i];
    const std::optional<uint64_t> needed = tensorBytes(buffer.dtype, buffer.shape);
    if (!needed || buffer.bytes > kMaxBytes || *needed > buffer.bytes)
      return bad(at("buffers", i), "the shape does not fit the size");
    SVOD_CHECK(checkPlace(plan, buffer, at("buffers", i)));
  }
  return {};
}

Status checkInPlace(const Plan& plan) {
  for (size_t i = 0; i < plan.memory.inPlace.size(); i++) {
    const InPlace& pair = plan.memory.inPlace[i];
    const auto isArena = [&](BufferId id) {
      return id < plan.buffers.size() && plan.buffers[id].place == Place::Arena;
    };
    if (!isArena(pair.source) || !isArena(pair.result) ||
        plan.buffers[pair.source].offset != plan.buffers[pair.result].offset)
      return bad(at("memory.inPlace", i), "these are no two buffers of the arena with one place");
  }
  return {};
}

Status checkKernels(const Plan& plan) {
  for (size_t i = 0; i < plan.kernels.size(); i++) {
    const KernelDesc& kernel = plan.kernels[i];
    const std::string where = at("kernels", i);
    if (kernel.file >= plan.files.size() || plan.files[kernel.file].kind == FileKind::Weights)
      return bad(where, "its file holds no code");
    if (kernel.symbol.empty()) return bad(where, "the symbol is empty");
    for (const KernelArg& arg : kernel.args)
      if (arg.bytes > kMaxBytes || !(reads(arg.mode) || writes(arg.mode)))
        return bad(where, "an argument is malformed");
    if (kernel.scratchBytes > kMaxBytes) return bad(where, "the scratch size is too large");
    for (const Expr* expr : {&kernel.tiles, &kernel.flops, &kernel.bytes})
      if (expr->varCount() > kernel.values.size())
        return bad(where, "an expression names no value of the kernel");
  }
  return {};
}

Status checkPorts(const Plan& plan, const std::vector<Port>& ports, Place place, const char* list,
                  std::vector<bool>& owned) {
  SVOD_CHECK(checkNames(ports, list));
  for (size_t i = 0; i < ports.size(); i++) {
    const Port& port = ports[i];
    if (port.buffer >= plan.buffers.size() || plan.buffers[port.buffer].place != place || owned[port.buffer])
      return bad(at(list, i), "its buffer has another place or another owner");
    owned[port.buffer] = true;
    const BufferDesc& buffer = plan.buffers[port.buffer];
    if (port.shape.size() != buffer.shape.size())
      return bad(at(list, i), "the rank differs from the buffer's");
    for (size_t axis = 0; axis < port.shape.size(); axis++) {
      const std::optional<int64_t> dim = port.shape[axis].constant();
      if (dim && (*dim < 0 || static_cast<uint64_t>(*dim) > buffer.shape[axis]))
        return bad(at(list, i), "axis " + std::to_string(axis) + " is larger than the buffer");
      for (const ExprNode& node : port.shape[axis].nodes())
        if (node.op == ExprOp::Var &&
            (static_cast<size_t>(node.value) >= plan.variables.size() ||
             plan.variables[static_cast<size_t>(node.value)].kind == VariableKind::Loop))
          return bad(at(list, i), "the shape names no variable of the plan");
    }
  }
  return {};
}

Status checkStates(const Plan& plan, std::vector<bool>& owned) {
  SVOD_CHECK(checkNames(plan.states, "states"));
  for (size_t i = 0; i < plan.states.size(); i++) {
    const State& state = plan.states[i];
    if (state.buffer >= plan.buffers.size() || plan.buffers[state.buffer].place != Place::State ||
        owned[state.buffer])
      return bad(at("states", i), "its buffer has another place or another owner");
    owned[state.buffer] = true;
    if (state.init && (*state.init >= plan.constants.size() ||
                       plan.constants[*state.init].bytes != plan.buffers[state.buffer].bytes))
      return bad(at("states", i), "its first contents do not fit");
  }
  return {};
}

Status checkExpectations(const Plan& plan) {
  for (size_t i = 0; i < plan.expectations.size(); i++) {
    const BufferId id = plan.expectations[i].buffer;
    if (id >= plan.buffers.size() || plan.buffers[id].place != Place::Arena ||
        plan.buffers[id].dtype != ElementType::I64 || plan.buffers[id].shape.size() != 2 ||
        plan.buffers[id].shape[0] != 2)
      return bad(at("expectations", i), "its buffer is no i64 [2, n] of the arena");
  }
  return {};
}

}  // namespace

bool isPlainFileName(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || c == '\\' || (c >= 0 && c < 32); });
}

Status check(const Plan& plan) {
  if (plan.version != kPlanVersion) return bad("version", "not the current one");
  SVOD_CHECK(checkFiles(plan));
  SVOD_CHECK(checkConstants(plan));
  SVOD_CHECK(checkVariables(plan));
  SVOD_CHECK(checkBuffers(plan));
  SVOD_CHECK(checkInPlace(plan));
  SVOD_CHECK(checkKernels(plan));
  SVOD_CHECK(checkSteps(plan));
  SVOD_CHECK(checkExpectations(plan));
  std::vector<bool> owned(plan.buffers.size(), false);
  SVOD_CHECK(checkPorts(plan, plan.inputs, Place::Input, "inputs", owned));
  SVOD_CHECK(checkPorts(plan, plan.outputs, Place::Output, "outputs", owned));
  SVOD_CHECK(checkStates(plan, owned));
  for (size_t i = 0; i < plan.buffers.size(); i++) {
    const Place place = plan.buffers[i].place;
    if (!owned[i] && (place == Place::Input || place == Place::Output || place == Place::State))
      return bad(at("buffers", i), "no input, output or state owns it");
  }
  return checkHazards(plan);
}

}  // namespace svod
