#include "runtime-min/instance.h"

#include <algorithm>
#include <cstring>

#include "runtime-min/device_code.h"
#include "support/expectation.h"
#include "support/says.h"

namespace svod {

namespace {

constexpr uint64_t kBytesPerBuffer = 1024;  // what bindings and states keep of one, at most

Result<std::vector<svod_host_entry>> hostEntries(const Program& program, const svod_instance_options& options) {
  const std::span<const svod_host_entry> given(options.functions, options.function_count);
  std::vector<svod_host_entry> entries;
  for (const std::string& name : program.hostFunctions) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const svod_host_entry& entry) {
      return entry.name != nullptr && entry.name == name && entry.function != nullptr;
    });
    if (found == given.end())
      return fail(Diag::MissingInput, says({"the plan calls host function '", name, "', which was not given"}),
                  "register it in svod_instance_options.functions");
    entries.push_back(*found);
  }
  return entries;
}

std::string nameOf(const State& state) { return "state '" + state.name + "'"; }

}  // namespace

Result<std::unique_ptr<Instance>> Instance::create(std::shared_ptr<const LoadedPlan> loaded,
                                                   const svod_instance_options& options, Pool* pool,
                                                   std::vector<Device*> devices) {
  SVOD_CHECK(checkDevices(loaded->plan(), devices));
  SVOD_TRY(loaded, LoadedPlan::forDevices(std::move(loaded), devices));
  const size_t workers = pool == nullptr ? 1 : pool->threads();
  if (!hasMemory(2 * Run::bytesFor(*loaded, workers) + kBytesPerBuffer * (loaded->plan().buffers.size() + 64)))
    return fail(Diag::DeviceFailure, "out of memory: no room for an instance", "free some memory");
  std::unique_ptr<Instance> instance(new Instance(std::move(loaded), pool));
  Run::Config config;
  config.workers = workers;
  config.profile = options.profile != 0;
  config.traceEvents = options.trace_events;
  if (options.memory != nullptr) config.memory = *options.memory;
  config.devices = devices;
  instance->memory_ = config.memory;
  SVOD_TRY(config.functions, hostEntries(instance->loaded_->program(), options));
  SVOD_TRY(config.loaded, loadKernels(*instance->loaded_, devices));
  SVOD_TRY(instance->run_, Run::create(*instance->loaded_, std::move(config)));
  instance->units_ = ArenaUnits(instance->loaded_->plan());
  instance->pointers_.resize(instance->loaded_->plan().buffers.size(), nullptr);
  SVOD_CHECK(
      instance->onDevices_.allocate(*instance->loaded_, std::move(devices), instance->units_, instance->pointers_));
  SVOD_CHECK(instance->allocate());
  for (const State& state : instance->loaded_->plan().states) {
    const DeviceId planned = instance->loaded_->plan().buffers[state.buffer].device;
    const DeviceId home = instance->onDevices_.has(planned) ? planned : DeviceId();
    instance->states_.push_back({instance->pointers_[state.buffer], home, home});
    instance->isReset_ = instance->isReset_ || home != 0;
  }
  instance->copies_ = findPortCopies(instance->loaded_->plan());
  for (PortCopy& copy : instance->copies_) copy.own = instance->pointers_[copy.buffer];
  instance->bound_.resize(instance->loaded_->plan().devices.size(), 0);
  instance->fillStates(instance->memory_.allocate == nullptr);
  return instance;
}

Instance::~Instance() {
  if (submission_.isIdle()) return;
  run_->stop();
  submission_.stop();
  (void)submission_.wait();
}

/// What lies on no device that was lent.
Status Instance::allocate() {
  const Plan& plan = loaded_->plan();
  sizes_.resize(plan.buffers.size(), 0);
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    sizes_[id] = plan.buffers[id].bytes;
    if (plan.buffers[id].place == Place::Constant)
      pointers_[id] = const_cast<std::byte*>(loaded_->constant(plan.buffers[id].constant));
  }
  return memory_.separate != 0 ? allocateSeparately() : allocateTogether();
}

Status Instance::allocateTogether() {
  const Plan& plan = loaded_->plan();
  for (DeviceId id = 0; id < plan.devices.size(); id++) {
    const uint64_t bytes = onDevices_.has(id) || units_.has(id, MemorySpace::Device) ? 0 : plan.devices[id].arenaBytes;
    SVOD_TRY(MemoryBlock arena, MemoryBlock::allocate(memory_, bytes, kPlanAlignment, "arena"));
    blocks_.push_back(std::move(arena));
  }
  uint64_t bytesOfStates = 0;
  const auto placeState = [&](const State& state, std::byte* states) {
    if (pointers_[state.buffer] != nullptr) return;
    if (states != nullptr && sizes_[state.buffer] > 0) pointers_[state.buffer] = states + bytesOfStates;
    bytesOfStates += (sizes_[state.buffer] + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
  };
  for (const State& state : plan.states) placeState(state, nullptr);
  SVOD_TRY(MemoryBlock states, MemoryBlock::allocate(memory_, bytesOfStates, kPlanAlignment, "states"));
  for (BufferId id = 0; id < plan.buffers.size(); id++)
    if (plan.buffers[id].place == Place::Arena && !plan.buffers[id].run &&
        blocks_[plan.buffers[id].device].data() != nullptr)
      pointers_[id] = blocks_[plan.buffers[id].device].data() + plan.buffers[id].offset;
  bytesOfStates = 0;
  for (const State& state : plan.states) placeState(state, states.data());
  blocks_.push_back(std::move(states));
  return {};
}

Status Instance::allocateSeparately() {
  const Plan& plan = loaded_->plan();
  blocks_.resize(plan.buffers.size());
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    const BufferDesc& buffer = plan.buffers[id];
    if ((buffer.place != Place::State && buffer.place != Place::Arena) || onDevices_.has(buffer.device) || buffer.run)
      continue;
    SVOD_TRY(blocks_[id], MemoryBlock::allocate(memory_, buffer.bytes, byteSize(buffer.dtype), buffer.name.c_str()));
    pointers_[id] = blocks_[id].data();
  }
  return {};
}

Status Instance::makeRoom(MemoryBlock& block, uint64_t bytes, uint64_t most, uint64_t alignment,
                          const char* purpose) const {
  if (bytes <= block.bytes()) return {};
  block = MemoryBlock();
  if (memory_.allocate == nullptr) {
    Result<MemoryBlock> whole = MemoryBlock::allocate(memory_, most, alignment, purpose);
    if (whole) return block = std::move(*whole), Status();
  }
  SVOD_TRY(block, MemoryBlock::allocate(memory_, bytes, alignment, purpose));
  return {};
}

Status Instance::placeArenas() {
  const Plan& plan = loaded_->plan();
  const bool isTogether = memory_.separate == 0;
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    const BufferDesc& buffer = plan.buffers[id];
    if (!buffer.run) continue;
    const std::optional<uint64_t> bytes = bytesInRun(buffer, bindings_.values());
    if (!bytes)
      return fail(Diag::VariableBounds, says({"'", buffer.name, "' has no size, or one beyond its greatest"}),
                  "choose other values for the variables");
    sizes_[id] = *bytes;
    if (isTogether || onDevices_.has(buffer.device)) continue;
    SVOD_CHECK(makeRoom(blocks_[id], *bytes, *bytes, byteSize(buffer.dtype), buffer.name.c_str()));
    pointers_[id] = blocks_[id].data();
  }
  units_.layOut(plan, sizes_);
  for (DeviceId device = 0; device < plan.devices.size(); device++) {
    if (!units_.has(device, MemorySpace::Device)) continue;
    const uint64_t bytes = units_.bytesOf(device, MemorySpace::Device);
    void* arena = nullptr;
    if (onDevices_.has(device)) {
      if (!onDevices_.fits(device, bytes)) SVOD_CHECK(run_->settle());
      SVOD_TRY(arena, onDevices_.arena(device, bytes));
    } else if (isTogether) {
      SVOD_CHECK(makeRoom(blocks_[device], bytes, plan.devices[device].arenaBytes, kPlanAlignment, "arena"));
      arena = blocks_[device].data();
    } else {
      continue;
    }
    for (BufferId id = 0; id < plan.buffers.size(); id++)
      if (plan.buffers[id].run && plan.buffers[id].device == device)
        pointers_[id] = static_cast<std::byte*>(arena) + units_.offsetOf(plan.buffers[id]);
  }
  for (PortCopy& copy : copies_)
    if (plan.buffers[copy.buffer].run) copy.own = pointers_[copy.buffer];
  return {};
}

Status Instance::probe(size_t index, void* data, uint64_t bytes) {
  const TensorView& view = loaded_->views(SVOD_INTERMEDIATE)[index];
  if (data != nullptr && bytes < view.c.max_bytes)
    return fail(Diag::InputMismatch, says({"intermediate '", view.name, "' needs ", view.c.max_bytes,
                                           " bytes, the memory given for it has ", bytes}));
  const BufferId id = loaded_->intermediates()[index];
  placeCopies(true);
  prepared_ = UINT64_MAX;
  run_->probes().set(loaded_->plan(), id, data, view.c.max_bytes);
  return {};
}

void Instance::fillStates(bool isZero) {
  for (StateId i = 0; i < states_.size(); i++) {
    const State& state = loaded_->plan().states[i];
    void* data = states_[i].own;
    if (sizes_[state.buffer] == 0 || states_[i].home != 0) continue;
    if (state.init)
      std::memcpy(data, loaded_->constant(*state.init), sizes_[state.buffer]);
    else if (!isZero)
      std::memset(data, 0, sizes_[state.buffer]);
  }
}

void Instance::resetStates() {
  fillStates(false);
  isReset_ = true;
}

Status Instance::sendStates() {
  for (StateId i = 0; i < states_.size(); i++) {
    const State& state = loaded_->plan().states[i];
    const StatePlace& place = states_[i];
    const uint64_t bytes = sizes_[state.buffer];
    void* const to = pointers_[state.buffer];
    if (place.device == 0) continue;
    if (place.home == 0)
      SVOD_CHECK(onDevices_.copyIn(place.device, to, place.own, bytes, nameOf(state)));
    else if (state.init)
      SVOD_CHECK(onDevices_.copyIn(place.device, to, loaded_->constant(*state.init), bytes, nameOf(state)));
    else
      SVOD_CHECK(onDevices_.clear(place.device, to, bytes, nameOf(state)));
  }
  isReset_ = false;
  return {};
}

Status Instance::readState(StateId id, void* data) {
  SVOD_CHECK(run_->checkDevicesPresent());
  if (isReset_) SVOD_CHECK(sendStates());
  const State& state = loaded_->plan().states[id];
  return onDevices_.copyOut(states_[id].device, data, pointers_[state.buffer], sizes_[state.buffer], nameOf(state));
}

Status Instance::writeState(StateId id, const void* data) {
  SVOD_CHECK(run_->checkDevicesPresent());
  if (isReset_) SVOD_CHECK(sendStates());
  const State& state = loaded_->plan().states[id];
  return onDevices_.copyIn(states_[id].device, pointers_[state.buffer], data, sizes_[state.buffer], nameOf(state));
}

/// Passes through memory of the host only where neither place is there; from the end where the new place begins inside
/// of the old one.
Status Instance::moveState(StateId id, DeviceId device, void* to) {
  if (isReset_) SVOD_CHECK(sendStates());
  const State& state = loaded_->plan().states[id];
  const uint64_t bytes = sizes_[state.buffer];
  const DeviceId old = states_[id].device;
  void* const from = pointers_[state.buffer];
  if (old == device && from == to) return {};
  if (device == 0) return onDevices_.copyOut(old, to, from, bytes, nameOf(state));
  if (old == 0) return onDevices_.copyIn(device, to, from, bytes, nameOf(state));
  std::byte held[32 << 10];
  const bool fromEnd = old == device && reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) < bytes;
  for (uint64_t done = 0, part = 0; done < bytes; done += part) {
    part = std::min<uint64_t>(bytes - done, sizeof held);
    const uint64_t at = fromEnd ? bytes - done - part : done;
    SVOD_CHECK(onDevices_.copyOut(old, held, static_cast<std::byte*>(from) + at, part, nameOf(state)));
    SVOD_CHECK(onDevices_.copyIn(device, static_cast<std::byte*>(to) + at, held, part, nameOf(state)));
  }
  return {};
}

Status Instance::bindState(StateId id, DeviceId device, void* data) {
  const State& state = loaded_->plan().states[id];
  StatePlace& place = states_[id];
  SVOD_CHECK(bindings_.checkDevice(nameOf(state), state.buffer, device));
  SVOD_CHECK(run_->checkDevicesPresent());
  if (device != 0 && data == nullptr && sizes_[state.buffer] > 0)
    return fail(Diag::InputMismatch, says({nameOf(state), " is bound to a null pointer"}));
  SVOD_CHECK(onDevices_.checkAddress(device, data, sizes_[state.buffer], state.name));
  if (device == 0) device = place.home, data = place.own;
  SVOD_CHECK(moveState(id, device, data));
  place.device = device;
  pointers_[state.buffer] = data;
  run_->placePort(state.buffer, device);
  prepared_ = UINT64_MAX;
  return {};
}

void Instance::placeCopies(bool isWatched) {
  for (const PortCopy& copy : copies_) {
    const DeviceId device = loaded_->plan().buffers[copy.buffer].device;
    void* const there = pointers_[copy.port];
    const bool isThere = !isWatched && there != nullptr && onDevices_.has(device) && run_->placeOf(copy.port) == device;
    pointers_[copy.buffer] = isThere && reinterpret_cast<uintptr_t>(there) % kDeviceAlignment == 0 ? there : copy.own;
  }
}

/// Fills in the caller's memory, and the views into any memory.
Status Instance::placeExternal() {
  const Plan& plan = loaded_->plan();
  bound_.assign(plan.devices.size(), 0);
  for (StateId i = 0; i < states_.size(); i++)
    if (pointers_[plan.states[i].buffer] != states_[i].own) bound_[states_[i].device] = 1;
  const auto place = [&](svod_kind kind, const std::vector<Port>& ports) -> Status {
    for (size_t i = 0; i < ports.size(); i++) {
      const DeviceId device = bindings_.device(kind, i);
      pointers_[ports[i].buffer] = bindings_.data(kind, i);
      sizes_[ports[i].buffer] = bindings_.bytes(kind, i);
      SVOD_CHECK(onDevices_.checkAddress(device, bindings_.data(kind, i), bindings_.bytes(kind, i), ports[i].name));
      run_->placePort(ports[i].buffer, device);
      bound_[device] = 1;
    }
    return {};
  };
  SVOD_CHECK(place(SVOD_INPUT, plan.inputs));
  SVOD_CHECK(place(SVOD_OUTPUT, plan.outputs));
  placeCopies(run_->probes().any());
  for (BufferId id = 0; id < plan.buffers.size(); id++) {
    const BufferDesc& buffer = plan.buffers[id];
    if (buffer.place != Place::View) continue;
    const uint64_t base = sizes_[buffer.base], offset = std::min(buffer.offset, base);
    sizes_[id] = std::min(buffer.bytes, base - offset);
    pointers_[id] =
        pointers_[buffer.base] == nullptr ? nullptr : static_cast<std::byte*>(pointers_[buffer.base]) + offset;
  }
  return {};
}

Status Instance::prepareAnew() {
  SVOD_CHECK(bindings_.complete());
  if (prepared_ == bindings_.version()) return {};
  prepared_ = UINT64_MAX;
  SVOD_CHECK(placeArenas());
  SVOD_CHECK(placeExternal());
  chooseHugePages();
  SVOD_CHECK(run_->prepare(bindings_.values(), pointers_, sizes_, onDevices_.arguments()));
  prepared_ = bindings_.version();
  return {};
}

Status Instance::runPrepared(uint64_t seed, bool waits) {
  if (run_->usesDevices()) SVOD_CHECK(run_->checkDevicesPresent());
  if (run_->lostMemory() || onDevices_.lostMemory()) {
    SVOD_CHECK(onDevices_.copyConstants());
    run_->restoredMemory();
  }
  if (isReset_) SVOD_CHECK(sendStates());
  if (run_->usesDevices()) SVOD_CHECK(onDevices_.beginRun(bound_));
  Status status = run_->execute(pool_, seed, waits);
  if (status && !loaded_->plan().expectations.empty()) status = checkExpectations();
  return status;
}

Status Instance::enqueue(uint64_t seed) {
  SVOD_CHECK(prepare());
  bool waits = !run_->isAhead() || !loaded_->plan().expectations.empty();
  for (const StatePlace& state : states_) waits = waits || state.device == 0;
  SVOD_CHECK(runPrepared(seed, waits));
  isEnqueued_ = true;
  return {};
}

Status Instance::waitEnqueued() {
  if (!isEnqueued_.exchange(false)) return fail(Diag::Usage, kNoRun, kNoRunHelp);
  return run_->usesDevices() ? run_->settle() : Status();
}

/// In an arena much larger than what a run uses, whose buffers lie far apart, a huge page would hold little.
void Instance::chooseHugePages() {
  if (blocks_.empty() || !blocks_.front().isVast()) return;
  const std::vector<Variable>& variables = loaded_->plan().variables;
  const bool isPerRun = units_.has(0, MemorySpace::Device);
  bool use = !isPerRun || MemoryBlock::isForHugePages(units_.bytesOf(0, MemorySpace::Device));
  for (size_t id = 0; id < variables.size(); id++)
    if (!isPerRun && variables[id].kind == VariableKind::Free)
      use = use && bindings_.values()[id] >= variables[id].max / 2;
  if (usesHugePages_ == use) return;
  blocks_.front().useHugePages(use);
  usesHugePages_ = use;
}

/// When all steps are done: which one is reported does not depend on their order.
Status Instance::checkExpectations() const {
  const Plan& plan = loaded_->plan();
  for (const Expectation& e : plan.expectations) {
    const auto* both = static_cast<const int64_t*>(pointers_[e.buffer]);
    const size_t count = 2 * static_cast<size_t>(plan.buffers[e.buffer].shape[1]);
    SVOD_CHECK(checkExpectation(e.kind, e.text, {both, count}));
  }
  return {};
}

}  // namespace svod
