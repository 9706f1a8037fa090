#include "plan/check.h"

#include <algorithm>
#include <set>

#include "plan/arena.h"
#include "plan/check_parts.h"
#include "plan/hazards.h"
#include "support/says.h"

namespace svod {

namespace {

constexpr size_t kMaxDevices = 64;  // the sum of their arenas never overflows

template <class T>
Status checkNames(const std::vector<T>& rows, const char* list) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < rows.size(); i++)
    if (rows[i].name.empty() || !names.insert(rows[i].name).second)
      return bad(at(list, i), rows[i].name.empty() ? "the name is empty" : "'" + rows[i].name + "' is there twice");
  return {};
}

Status checkFiles(const Plan& plan) {
  std::set<std::string_view> names = {"plan.json"};
  for (FileId i = 0; i < plan.files.size(); i++) {
    const FileDesc& file = plan.files[i];
    if (!isPlainFileName(file.path))
      return fail(Diag::PlanPath, says({at("files", i), ": '", file.path, "' is not a plain file name"}),
                  "a plan can only name files of its own directory");
    if (!names.insert(file.path).second) return bad(at("files", i), {"'", file.path, "' is listed twice"});
    if (file.bytes > kMaxPlanBytes) return bad(at("files", i), "the size is too large");
    const auto isHex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (file.sha256.size() != 64 || !std::all_of(file.sha256.begin(), file.sha256.end(), isHex))
      return bad(at("files", i), "the SHA-256 is malformed");
    if (file.kind != FileKind::Image) continue;
    if (file.image.device.empty() || file.image.device == DeviceKind::Cpu || file.image.arch.empty())
      return bad(at("files", i), "an image is for a kind of device besides cpu, and an architecture of it");
  }
  return {};
}

Status checkDevices(const Plan& plan) {
  if (plan.devices.empty()) return bad("devices", "there is no host");
  if (plan.devices.size() > kMaxDevices) return bad("devices", {"more than ", kMaxDevices});
  SVOD_CHECK(checkNames(plan.devices, "devices"));
  if (plan.devices[0].kind != DeviceKind::Cpu)
    return bad(at("devices", 0), {"the host is no '", plan.devices[0].kind, "'"});
  for (DeviceId i = 0; i < plan.devices.size(); i++) {
    if (plan.devices[i].kind.empty()) return bad(at("devices", i), "the kind is empty");
    for (MemorySpace space : kMemorySpaces)
      if (arenaBytes(plan.devices[i], space) > kMaxPlanBytes) return bad(at("devices", i), "the arena is too large");
    if (plan.devices[i].kind == DeviceKind::Cpu && plan.devices[i].sharedBytes > 0)
      return bad(at("devices", i), "a device of kind cpu has one arena");
  }
  return {};
}

Status checkConstants(const Plan& plan) {
  for (ConstantId i = 0; i < plan.constants.size(); i++) {
    const Constant& constant = plan.constants[i];
    if (constant.file >= plan.files.size())
      return bad(at("constants", i), noSuch("file", constant.file, plan.files.size()));
    if (plan.files[constant.file].kind != FileKind::Weights)
      return bad(at("constants", i), {"its file '", plan.files[constant.file].path, "' holds no weights"});
    if (constant.offset % kPlanAlignment != 0) return bad(at("constants", i), "the offset is not a multiple of 64");
    if (constant.offset > kMaxPlanBytes || constant.bytes > kMaxPlanBytes ||
        constant.offset + constant.bytes > plan.files[constant.file].bytes)
      return bad(at("constants", i), {"it lies outside its file: ",
                                      bytesOf(constant.offset, constant.bytes, plan.files[constant.file].bytes)});
  }
  return {};
}

Status checkVariables(const Plan& plan) {
  SVOD_CHECK(checkNames(plan.variables, "variables"));
  for (VariableId i = 0; i < plan.variables.size(); i++) {
    const Variable& variable = plan.variables[i];
    if (variable.name.find('`') != std::string::npos) return bad(at("variables", i), "a backquote in the name");
    if (variable.min > variable.max)
      return bad(at("variables", i), {"the minimum ", variable.min, " is above the maximum ", variable.max});
    if (variable.kind == VariableKind::Fixed && (variable.value < variable.min || variable.value > variable.max))
      return bad(at("variables", i),
                 {"the value ", variable.value, " lies outside the bounds ", variable.min, "..", variable.max});
  }
  return {};
}

/// They have a value before the first step.
Status checkVariablesIn(const Plan& plan, const Expr& size, const std::string& where, const std::string& what) {
  for (const ExprNode& node : size.nodes())
    if (node.op == ExprOp::Var && (static_cast<size_t>(node.value) >= plan.variables.size() ||
                                   plan.variables[VariableId(node.value)].kind == VariableKind::Loop))
      return bad(where, {what, " names variable ", node.value, ", which is that of a loop, or not there"});
  return {};
}

Status checkPlace(const Plan& plan, const BufferDesc& buffer, const std::string& where) {
  const bool isArena = buffer.place == Place::Arena;
  if ((isArena || buffer.place == Place::State) && buffer.device >= plan.devices.size())
    return bad(where, noSuch("device", buffer.device, plan.devices.size()));
  if (isArena && buffer.run) {
    if (buffer.run->begin >= buffer.run->end || buffer.run->end > 2 * plan.buffers.size())
      return bad(where, {"units ", buffer.run->begin, " to ", buffer.run->end, " of an arena"});
    SVOD_CHECK(checkVariablesIn(plan, buffer.run->bytes, where, "the size"));
  } else if (isArena) {
    if (buffer.offset % kPlanAlignment != 0) return bad(where, "the arena offset is not a multiple of 64");
    const uint64_t arena = arenaBytes(plan.devices[buffer.device], buffer.space);
    if (buffer.offset > kMaxPlanBytes || buffer.offset + buffer.bytes > arena)
      return bad(where, {"it lies outside the arena: ", bytesOf(buffer.offset, buffer.bytes, arena)});
  }
  if (buffer.place == Place::Constant) {
    if (buffer.constant >= plan.constants.size())
      return bad(where, noSuch("constant", buffer.constant, plan.constants.size()));
    if (buffer.bytes > plan.constants[buffer.constant].bytes)
      return bad(where,
                 {"it is larger than its constant: ", bytesOf(0, buffer.bytes, plan.constants[buffer.constant].bytes)});
  }
  if (buffer.place == Place::View) {
    if (buffer.base >= plan.buffers.size())
      return bad(where, {"a view whose base is missing: ", noSuch("buffer", buffer.base, plan.buffers.size())});
    const BufferDesc& base = plan.buffers[buffer.base];
    if (base.place == Place::View) return bad(where, {"a view whose base, buffer ", buffer.base, ", is a view itself"});
    if (buffer.offset % byteSize(buffer.dtype) != 0)
      return bad(where, {"a view at byte ", buffer.offset, " is not aligned for its dtype"});
    if (buffer.offset > kMaxPlanBytes || buffer.offset + buffer.bytes > base.bytes)
      return bad(where, {"a view that reaches beyond its base, buffer ", buffer.base, ": ",
                         bytesOf(buffer.offset, buffer.bytes, base.bytes)});
  }
  return {};
}

Status checkBuffers(const Plan& plan) {
  for (BufferId i = 0; i < plan.buffers.size(); i++) {
    const BufferDesc& buffer = plan.buffers[i];
    const std::optional<uint64_t> needed = tensorBytes(buffer.dtype, buffer.shape);
    const bool isExact = buffer.place == Place::State;  // callers lend memory for its shape
    if (!needed || buffer.bytes > kMaxPlanBytes || (isExact ? *needed != buffer.bytes : *needed > buffer.bytes))
      return bad(at("buffers", i), {"the shape does not fit ", buffer.bytes, " bytes"});
    SVOD_CHECK(checkPlace(plan, buffer, at("buffers", i)));
  }
  return {};
}

/// Arenas that are laid out for every run are so as a whole, and have room for the greatest sizes.
Status checkRunPlaces(const Plan& plan) {
  ArenaUnits units(plan);
  std::vector<uint64_t> bytes;
  for (BufferId i = 0; i < plan.buffers.size(); i++) {
    const BufferDesc& buffer = plan.buffers[i];
    bytes.push_back(buffer.bytes);
    if (buffer.place == Place::Arena && !buffer.run && units.has(buffer.device, buffer.space))
      return bad(at("buffers", i), "it has no place among the units of its arena");
  }
  units.layOut(plan, bytes);
  for (DeviceId device = 0; device < plan.devices.size(); device++)
    for (MemorySpace space : kMemorySpaces)
      if (const uint64_t most = units.bytesOf(device, space), arena = arenaBytes(plan.devices[device], space);
          most > arena)
        return bad(at("devices", device), {"its buffers take ", most, " bytes, the arena has ", arena});
  return {};
}

Status checkInPlace(const Plan& plan) {
  for (size_t i = 0; i < plan.memory.inPlace.size(); i++) {
    const InPlace& pair = plan.memory.inPlace[i];
    const auto isArena = [&](BufferId id) {
      return id < plan.buffers.size() && plan.buffers[id].place == Place::Arena;
    };
    if (!isArena(pair.source) || !isArena(pair.result) ||
        plan.buffers[pair.source].device != plan.buffers[pair.result].device ||
        plan.buffers[pair.source].space != plan.buffers[pair.result].space ||
        placeOf(plan.buffers[pair.source]).begin != placeOf(plan.buffers[pair.result]).begin)
      return bad(at("memory.inPlace", i),
                 {"buffers ", pair.source, " and ", pair.result, " are no two of the arena at one place"});
  }
  return {};
}

/// Where the function is, and what is known of its launches.
Status checkFunction(const Plan& plan, const KernelDesc& kernel, const std::string& where) {
  if (kernel.grid) return checkGrid(plan, kernel, where);
  if (kernel.file >= plan.files.size()) return bad(where, noSuch("file", kernel.file, plan.files.size()));
  const FileDesc& file = plan.files[kernel.file];
  if (file.kind != FileKind::Code && file.kind != FileKind::Source)
    return bad(where, {"its file '", file.path, "' holds no code"});
  if (kernel.scratchBytes > kMaxPlanBytes) return bad(where, "the scratch size is too large");
  return checkValues(kernel, kernel.tiles, where);
}

Status checkKernels(const Plan& plan) {
  for (KernelId i = 0; i < plan.kernels.size(); i++) {
    const KernelDesc& kernel = plan.kernels[i];
    const std::string where = at("kernels", i);
    SVOD_CHECK(checkFunction(plan, kernel, where));
    if (kernel.symbol.empty()) return bad(where, "the symbol is empty");
    for (size_t k = 0; k < kernel.args.size(); k++)
      if (kernel.args[k].bytes > kMaxPlanBytes || !(reads(kernel.args[k].mode) || writes(kernel.args[k].mode)))
        return bad(where, {"argument ", k, " is neither read nor written, or too large"});
    for (const Expr* expr : {&kernel.flops, &kernel.bytes}) SVOD_CHECK(checkValues(kernel, *expr, where));
  }
  return {};
}

/// Every input, output and state has a buffer of its place to itself.
Status checkOwner(const Plan& plan, BufferId id, Place place, const std::string& where, std::vector<uint8_t>& owned) {
  if (id >= plan.buffers.size()) return bad(where, noSuch("buffer", id, plan.buffers.size()));
  const std::string buffer = "buffer " + std::to_string(id);
  if (plan.buffers[id].place != place) return bad(where, {buffer, " has another place"});
  if (owned[id] != 0) return bad(where, {buffer, " has another owner"});
  owned[id] = 1;
  return {};
}

Status checkPorts(const Plan& plan, const std::vector<Port>& ports, Place place, const char* list,
                  std::vector<uint8_t>& owned) {
  SVOD_CHECK(checkNames(ports, list));
  for (size_t i = 0; i < ports.size(); i++) {
    const Port& port = ports[i];
    SVOD_CHECK(checkOwner(plan, port.buffer, place, at(list, i), owned));
    const BufferDesc& buffer = plan.buffers[port.buffer];
    if (port.shape.size() != buffer.shape.size())
      return bad(at(list, i), {"it has ", port.shape.size(), " axes, its buffer ", buffer.shape.size()});
    for (size_t axis = 0; axis < port.shape.size(); axis++) {
      const std::optional<int64_t> dim = port.shape[axis].constant();
      if (dim && (*dim < 0 || static_cast<uint64_t>(*dim) > buffer.shape[axis]))
        return bad(at(list, i),
                   {"axis ", axis, " of ", *dim, " does not fit the ", buffer.shape[axis], " of its buffer"});
      SVOD_CHECK(checkVariablesIn(plan, port.shape[axis], at(list, i), "the shape"));
    }
  }
  return {};
}

Status checkStates(const Plan& plan, std::vector<uint8_t>& owned) {
  SVOD_CHECK(checkNames(plan.states, "states"));
  for (StateId i = 0; i < plan.states.size(); i++) {
    const State& state = plan.states[i];
    SVOD_CHECK(checkOwner(plan, state.buffer, Place::State, at("states", i), owned));
    if (!state.init) continue;
    if (*state.init >= plan.constants.size())
      return bad(at("states", i), noSuch("constant", *state.init, plan.constants.size()));
    if (plan.constants[*state.init].bytes != plan.buffers[state.buffer].bytes)
      return bad(at("states", i), {"its first contents have ", plan.constants[*state.init].bytes, " bytes, its buffer ",
                                   plan.buffers[state.buffer].bytes});
  }
  return {};
}

Status checkEqualSizes(const Plan& plan) {
  for (size_t i = 0; i < plan.equalSizes.size(); i++)
    for (const Expr& size : {plan.equalSizes[i].a, plan.equalSizes[i].b})
      SVOD_CHECK(checkVariablesIn(plan, size, at("equalSizes", i), "a size"));
  return {};
}

Status checkExpectations(const Plan& plan) {
  for (size_t i = 0; i < plan.expectations.size(); i++) {
    const BufferId id = plan.expectations[i].buffer;
    if (id >= plan.buffers.size() || plan.buffers[id].place != Place::Arena ||
        plan.buffers[id].dtype != ElementType::I64 || plan.buffers[id].shape.size() != 2 ||
        plan.buffers[id].shape[0] != 2 || plan.buffers[id].device != 0)
      return bad(at("expectations", i), {"buffer ", id, " is no i64 [2, n] of the host's arena"});
  }
  return {};
}

}  // namespace

bool isPlainFileName(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 32; });
}

Status check(const Plan& plan) {
  if (plan.version < kOldestPlanVersion || plan.version > kPlanVersion)
    return bad("version", {plan.version, ", not ", kOldestPlanVersion, " to ", kPlanVersion});
  SVOD_CHECK(checkFiles(plan));
  SVOD_CHECK(checkDevices(plan));
  SVOD_CHECK(checkConstants(plan));
  SVOD_CHECK(checkVariables(plan));
  SVOD_CHECK(checkBuffers(plan));
  SVOD_CHECK(checkRunPlaces(plan));
  SVOD_CHECK(checkInPlace(plan));
  SVOD_CHECK(checkKernels(plan));
  SVOD_CHECK(checkVariants(plan));
  SVOD_CHECK(checkSteps(plan));
  SVOD_CHECK(checkEqualSizes(plan));
  SVOD_CHECK(checkExpectations(plan));
  std::vector<uint8_t> owned(plan.buffers.size(), 0);
  SVOD_CHECK(checkPorts(plan, plan.inputs, Place::Input, "inputs", owned));
  SVOD_CHECK(checkPorts(plan, plan.outputs, Place::Output, "outputs", owned));
  SVOD_CHECK(checkStates(plan, owned));
  for (BufferId i = 0; i < plan.buffers.size(); i++) {
    const Place place = plan.buffers[i].place;
    if (owned[i] == 0 && (place == Place::Input || place == Place::Output || place == Place::State))
      return bad(at("buffers", i), "no input, output or state owns it");
  }
  return checkHazards(plan);
}

}  // namespace svod
