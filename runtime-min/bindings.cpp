#include "runtime-min/bindings.h"

#include <algorithm>

#include "support/heap_sort.h"
#include "support/says.h"

namespace svod {

namespace {
std::string quoted(const std::string& name) { return says({"'", name, "'"}); }

std::string shapeText(std::span<const uint64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); i++) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return says({text, ")"});
}
std::string shapeText(const Port& port, const std::vector<std::string>& names) {
  std::string text = "(";
  for (size_t i = 0; i < port.shape.size(); i++) text += (i > 0 ? ", " : "") + toText(port.shape[i], names);
  return says({text, ")"});
}
}  // namespace

Bindings::Bindings(const LoadedPlan& loaded) : loaded_(loaded) {
  const Plan& plan = loaded.plan();
  const auto add = [&](svod_kind kind, const std::vector<Port>& ports, const char* word) {
    for (const Port& port : ports) {
      PortState& state = ports_[kind].emplace_back();
      state.port = &port;
      state.buffer = &plan.buffers[port.buffer];
      state.word = word;
      state.isInput = kind == SVOD_INPUT;
      state.given.resize(port.shape.size());
      state.shape.resize(port.shape.size());
    }
  };
  add(SVOD_INPUT, plan.inputs, "input");
  add(SVOD_OUTPUT, plan.outputs, "output");
  findPartners();
  set_.resize(plan.variables.size());
  values_.resize(plan.variables.size());
  sources_.resize(plan.variables.size());
  extents_.reserve(plan.inputs.size() + plan.outputs.size());
}

void Bindings::findPartners() {
  const Plan& plan = loaded_.plan();
  partners_.resize(plan.buffers.size(), 0);
  if (plan.devices.size() == 1) return;
  std::vector<uint8_t> isCopied(plan.buffers.size()), isOnHost(plan.buffers.size());
  const auto base = [&](BufferId id) { return plan.buffers[id].place == Place::View ? plan.buffers[id].base : id; };
  for (const Step& step : plan.steps) {
    if (const auto* copy = std::get_if<Copy>(&step.action)) {
      for (const auto& [side, other] : {std::pair(copy->dst, copy->src), std::pair(copy->src, copy->dst)}) {
        const BufferId id = base(side);
        const DeviceId there = deviceOf(plan, other).value_or(0);
        isOnHost[id] |= isCopied[id] & static_cast<uint8_t>(partners_[id] != there);
        isCopied[id] = 1;
        partners_[id] = there;
      }
    } else if (const auto* launch = std::get_if<Launch>(&step.action)) {
      for (BufferId id : launch->buffers) isOnHost[base(id)] = 1;
    } else if (const auto* call = std::get_if<HostCall>(&step.action)) {
      for (const HostArg& arg : call->args) isOnHost[base(arg.buffer)] = 1;
    } else if (const auto* loop = std::get_if<Loop>(&step.action); loop->condition) {
      isOnHost[base(*loop->condition)] = 1;
    }
  }
  for (BufferId id = 0; id < partners_.size(); id++)
    if (isOnHost[id] != 0) partners_[id] = 0;
}

Status Bindings::checkDevice(const std::string& what, BufferId buffer, DeviceId device) const {
  if (device == 0 || partners_[buffer] == device || deviceOf(loaded_.plan(), buffer) == device) return {};
  return fail(Diag::InputMismatch,
              says({what, " cannot be on device ", quoted(loaded_.plan().devices[device].name),
                    ": the plan does more with it than copies to and from there"}),
              "bind memory of the host, or compile a graph that uses it on that device alone");
}

Status Bindings::bindInput(size_t index, const char* dtype, std::span<const uint64_t> shape, const void* data,
                           DeviceId device) {
  PortState& input = ports_[SVOD_INPUT][index];
  const auto mismatch = [&](const std::string& what) {
    return fail(Diag::InputMismatch, says({"input ", quoted(input.port->name), " ", what}),
                says({"it is declared as ", nameOf(input.buffer->dtype), " ",
                      shapeText(*input.port, loaded_.variableNames())}));
  };
  if (dtype != nullptr && nameOf(input.buffer->dtype) != dtype)
    return mismatch("has dtype " + std::string(dtype) + ", the plan wants " + std::string(nameOf(input.buffer->dtype)));
  if (shape.size() != input.given.size())
    return mismatch("has shape " + shapeText(shape) + " of rank " + std::to_string(shape.size()) +
                    ", the plan wants rank " + std::to_string(input.given.size()));
  for (size_t axis = 0; axis < shape.size(); axis++) {
    const std::optional<int64_t> want = input.port->shape[axis].constant();
    if (want && shape[axis] != static_cast<uint64_t>(*want))
      return mismatch("has shape " + shapeText(shape) + "; axis " + std::to_string(axis) + " must be " +
                      std::to_string(*want));
    if (shape[axis] > INT64_MAX) return mismatch("has a dimension that is too large");
  }
  SVOD_CHECK(checkDevice("input " + quoted(input.port->name), input.port->buffer, device));
  resolved_ = resolved_ && input.bound && std::equal(shape.begin(), shape.end(), input.given.begin());
  complete_ = complete_ && resolved_ && input.data == data && input.device == device;
  std::copy(shape.begin(), shape.end(), input.given.begin());
  input.data = const_cast<void*>(data);
  input.device = device;
  input.bound = true;
  return {};
}

Status Bindings::bindOutput(size_t index, void* data, uint64_t bytes, DeviceId device) {
  PortState& output = ports_[SVOD_OUTPUT][index];
  SVOD_CHECK(checkDevice("output " + quoted(output.port->name), output.port->buffer, device));
  complete_ = complete_ && output.data == data && output.room == bytes && output.device == device;
  output.bound = true;
  output.data = data;
  output.device = device;
  output.room = bytes;
  return {};
}

Status Bindings::findShape(PortState& port) {
  const std::vector<std::string>& names = loaded_.variableNames();
  const auto wrong = [&](size_t axis, const std::string& what) {
    return fail(Diag::InputMismatch, says({port.word, " ", quoted(port.port->name), ": axis ", axis, " ", what}));
  };
  for (size_t axis = 0; axis < port.shape.size(); axis++) {
    const std::optional<int64_t> dim = port.port->shape[axis].tryEvaluate(values_);
    if (!dim) return fail(std::move(port.port->shape[axis].evaluate(values_, names)).error());
    if (*dim < 0 || static_cast<uint64_t>(*dim) > port.buffer->shape[axis])
      return wrong(axis, says({"is ", toText(port.port->shape[axis], names), " = ", *dim, ", outside 0 to ",
                               port.buffer->shape[axis]}));
    port.shape[axis] = static_cast<uint64_t>(*dim);
    if (port.isInput && port.bound && port.given[axis] != port.shape[axis])
      return wrong(
          axis, says({"has length ", port.given[axis], ", but ", toText(port.port->shape[axis], names), " = ", *dim}));
  }
  port.bytes = *tensorBytes(port.buffer->dtype, port.shape);  // no dimension is above its maximum, which fits
  return {};
}

Status Bindings::resolve() {
  if (resolved_) return {};
  complete_ = false;
  SVOD_CHECK(inferVariables());
  SVOD_CHECK(checkVariables());
  SVOD_CHECK(checkSizes());
  for (std::vector<PortState>& ports : ports_)
    for (PortState& port : ports) SVOD_CHECK(findShape(port));
  resolved_ = true;
  return {};
}

Status Bindings::checkMemory(const PortState& port) const {
  const std::string name = std::string(port.word) + " ";
  if (!port.bound)
    return fail(
        Diag::MissingInput, says({name, quoted(port.port->name), " is not bound"}),
        says({"bind memory for ", shapeText(*port.port, loaded_.variableNames()), " of ", nameOf(port.buffer->dtype)}));
  if (!port.isInput && port.room < port.bytes)
    return fail(Diag::InputMismatch, says({name, quoted(port.port->name), " needs ", port.bytes,
                                           " bytes, the memory bound to it has ", port.room}));
  if (port.bytes > 0 && port.data == nullptr)
    return fail(Diag::InputMismatch, says({name, quoted(port.port->name), " is bound to a null pointer"}));
  if (reinterpret_cast<uintptr_t>(port.data) % byteSize(port.buffer->dtype) != 0)
    return fail(Diag::InputMismatch,
                says({name, quoted(port.port->name), " is bound to memory that is not aligned for ",
                      nameOf(port.buffer->dtype)}));
  return {};
}

Status Bindings::checkOverlaps() {
  extents_.clear();
  for (const svod_kind kind : {SVOD_INPUT, SVOD_OUTPUT})
    for (const PortState& port : ports_[kind]) {
      const auto begin = reinterpret_cast<uintptr_t>(port.data);
      if (port.bytes > 0) extents_.push_back({begin, begin + static_cast<uintptr_t>(port.bytes), &port});
    }
  // Devices count addresses on their own.
  heapSort(extents_, [](const Extent& a, const Extent& b) {
    return std::pair(a.port->device, a.begin) < std::pair(b.port->device, b.begin);
  });
  const Extent *reach = nullptr, *outputReach = nullptr;  // of those before, what ends last
  for (const Extent& extent : extents_) {
    if (reach != nullptr && reach->port->device != extent.port->device) reach = outputReach = nullptr;
    const Extent* other = extent.port->isInput ? outputReach : reach;
    if (other != nullptr && other->end > extent.begin)
      return fail(Diag::InputMismatch,
                  says({other->port->word, " ", quoted(other->port->port->name), " and ", extent.port->word, " ",
                        quoted(extent.port->port->name), " are bound to overlapping memory"}));
    if (reach == nullptr || extent.end > reach->end) reach = &extent;
    if (!extent.port->isInput && (outputReach == nullptr || extent.end > outputReach->end)) outputReach = &extent;
  }
  return {};
}

Status Bindings::complete() {
  SVOD_CHECK(resolve());
  if (complete_) return {};
  for (const PortState& port : ports_[SVOD_INPUT]) SVOD_CHECK(checkMemory(port));
  for (const PortState& port : ports_[SVOD_OUTPUT]) SVOD_CHECK(checkMemory(port));
  SVOD_CHECK(checkOverlaps());
  complete_ = true;
  version_++;
  return {};
}

}  // namespace svod
