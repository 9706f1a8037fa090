#include "runtime-min/device_memory.h"
#include "support/says.h"

#include <algorithm>
#include <cstring>

namespace svod {

namespace {

constexpr uint64_t kZeros = 1 << 20;  // bytes that are cleared with one copy

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const std::vector<Block>* blocks : {&blocks_, &perRun_})
    for (const Block& block : *blocks)
      if (block.bytes > 0 && !block.device->isLost()) block.device->release(block.data, block.bytes);
}

Result<void*> DeviceMemory::arena(DeviceId id, uint64_t bytes) {
  Block& block = perRun_[id];
  if (bytes <= block.bytes) return block.data;
  const uint64_t twice = std::min(2 * block.bytes, loaded_->plan().devices[id].arenaBytes);
  if (block.bytes > 0) devices_[id]->release(block.data, block.bytes);
  block = {};
  const uint64_t asked = std::max({bytes, twice, kPlanAlignment});
  SVOD_TRY(void* data, devices_[id]->allocate(asked));
  block = {devices_[id], data, asked};
  return data;
}

Result<void*> DeviceMemory::take(Device* device, uint64_t bytes) {
  SVOD_TRY(void* data, device->allocate(bytes));
  blocks_.push_back({device, data, bytes});
  return data;
}

Status DeviceMemory::allocate(const LoadedPlan& loaded, std::vector<Device*> devices, const ArenaUnits& units,
                              std::vector<void*>& pointers) {
  loaded_ = &loaded;
  devices_ = std::move(devices);
  const Plan& plan = loaded.plan();
  arenas_.assign(plan.devices.size(), nullptr);
  perRun_.resize(plan.devices.size());
  for (DeviceId id = 1; id < plan.devices.size(); id++) {
    if (!has(id)) continue;
    // Buffers without elements have an address of the device, too.
    const uint64_t bytes = units.has(id, MemorySpace::Device) ? 0 : plan.devices[id].arenaBytes;
    SVOD_TRY(arenas_[id], take(devices_[id], std::max(bytes, kPlanAlignment)));
    void* const arena = arenas_[id];
    for (BufferId buffer = 0; buffer < plan.buffers.size(); buffer++)
      if (plan.buffers[buffer].place == Place::Arena && plan.buffers[buffer].device == id && !plan.buffers[buffer].run)
        pointers[buffer] = static_cast<std::byte*>(arena) + plan.buffers[buffer].offset;
  }
  for (const State& state : plan.states) {
    const BufferDesc& buffer = plan.buffers[state.buffer];
    if (!has(buffer.device)) continue;
    SVOD_TRY(pointers[state.buffer], take(devices_[buffer.device], std::max(buffer.bytes, kPlanAlignment)));
    if (!state.init) zeros_.resize(std::max<size_t>(zeros_.size(), std::min(buffer.bytes, kZeros)));
  }
  SVOD_CHECK(placeConstants());
  return copyConstants();
}

/// One block of weights for each device, in the order of their first use.
Status DeviceMemory::placeConstants() {
  const Plan& plan = loaded_->plan();
  places_.assign(plan.devices.size() * plan.constants.size(), kNowhere);
  std::vector<uint64_t> sizes(plan.devices.size(), 0);
  for (StepId step = 0; step < plan.steps.size(); step++)
    if (const auto* launch = std::get_if<Launch>(&plan.steps[step].action)) {
      const ProgramStep& own = loaded_->program().steps[step];
      findConstants(own.args.begin, *launch, sizes);
      for (uint32_t i = 0; i < launch->cases.size(); i++)
        findConstants(loaded_->program().cases[own.cases.begin + i].args.begin, launch->cases[i].launch, sizes);
    }
  weights_.assign(plan.devices.size(), nullptr);
  for (DeviceId id = 1; id < plan.devices.size(); id++) {
    if (sizes[id] == 0) continue;
    SVOD_TRY(void* block, take(devices_[id], sizes[id]));
    weights_[id] = static_cast<std::byte*>(block);
  }
  for (const Argument& reader : readers_) {
    const bool isEmpty = plan.constants[reader.constant].bytes == 0;
    void* const at = isEmpty ? arenas_[reader.device]
                             : weights_[reader.device] + place(reader.device, reader.constant) + reader.offset;
    arguments_.emplace_back(reader.slot, at);
  }
  return {};
}

void DeviceMemory::findConstants(uint32_t firstSlot, const Launch& launch, std::vector<uint64_t>& sizes) {
  const Plan& plan = loaded_->plan();
  DeviceId device = 0;
  for (BufferId id : launch.buffers) device = std::max(device, deviceOf(plan, id).value_or(0));
  if (!has(device)) return;
  for (uint32_t i = 0; i < launch.buffers.size(); i++) {
    const BufferDesc& buffer = plan.buffers[launch.buffers[i]];
    const bool isView = buffer.place == Place::View;
    const BufferDesc& base = isView ? plan.buffers[buffer.base] : buffer;
    if (base.place != Place::Constant) continue;
    readers_.push_back({firstSlot + i, device, base.constant, isView ? buffer.offset : 0});
    const uint64_t bytes = plan.constants[base.constant].bytes;
    uint64_t& at = place(device, base.constant);
    if (bytes == 0 || at != kNowhere) continue;
    at = sizes[device];
    sizes[device] += (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
  }
}

Status DeviceMemory::copyConstants() {
  for (DeviceId device = 1; device < weights_.size(); device++) {
    std::vector<DeviceUpload> uploads;
    for (ConstantId id = 0; id < loaded_->plan().constants.size(); id++)
      if (const uint64_t offset = place(device, id); offset != kNowhere)
        uploads.push_back({weights_[device] + offset, loaded_->constant(id), loaded_->plan().constants[id].bytes});
    if (!uploads.empty()) SVOD_CHECK(finish(device, devices_[device]->upload(uploads), "weights"));
  }
  lostMemory_ = false;
  return {};
}

Status DeviceMemory::finish(DeviceId device, const std::optional<Device::Failure>& failed, const std::string& what) {
  if (!failed) return {};
  if (!devices_[device]->isLost()) devices_[device]->reset();
  lostMemory_ = true;
  return fail(
      diagAfterFailure(*devices_[device]),
      says({"cannot copy ", what, " to or from device '", loaded_->plan().devices[device].name, "': ", failed->what}),
      helpAfterFailure(*devices_[device]));
}

Status DeviceMemory::checkAddress(DeviceId device, const void* data, uint64_t bytes, const std::string& name) const {
  if (device == 0 || !has(device) || bytes == 0) return {};
  Status status = devices_[device]->checkAddress(data, bytes);
  if (status) return status;
  return fail(Diag::InputMismatch,
              says({"'", name, "' is bound to no memory of device '", loaded_->plan().devices[device].name,
                    "': ", status.error()->message}),
              "svod_bind_input and svod_bind_output take memory of the host");
}

Status DeviceMemory::beginRun(std::span<const uint8_t> bound) const {
  for (DeviceId id = 1; id < devices_.size(); id++)
    if (has(id)) SVOD_CHECK(devices_[id]->beginRun(bound[id] != 0));
  return {};
}

Status DeviceMemory::useStream(DeviceId device, void* stream) const {
  if (has(device)) return devices_[device]->useStream(stream);
  return fail(Diag::Unsupported, "what the host runs goes into no stream");
}

Status DeviceMemory::copyIn(DeviceId device, void* to, const void* fromHost, uint64_t bytes, const std::string& what) {
  if (bytes == 0) return {};
  if (has(device))
    return finish(device, devices_[device]->wait(devices_[device]->copyIn(to, fromHost, bytes, 0)), what);
  std::memcpy(to, fromHost, bytes);
  return {};
}

Status DeviceMemory::clear(DeviceId device, void* to, uint64_t bytes, const std::string& what) {
  for (uint64_t at = 0; at < bytes; at += zeros_.size())
    SVOD_CHECK(copyIn(device, static_cast<std::byte*>(to) + at, zeros_.data(),
                      std::min<uint64_t>(bytes - at, zeros_.size()), what));
  return {};
}

Status DeviceMemory::copyOut(DeviceId device, void* toHost, const void* from, uint64_t bytes, const std::string& what) {
  if (bytes == 0) return {};
  if (has(device))
    return finish(device, devices_[device]->wait(devices_[device]->copyOut(toHost, from, bytes, 0)), what);
  std::memcpy(toHost, from, bytes);
  return {};
}

}  // namespace svod
