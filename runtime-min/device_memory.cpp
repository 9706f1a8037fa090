#include "runtime-min/device_memory.h"
#include "support/says.h"

#include <cstring>

namespace svod {

DeviceMemory::~DeviceMemory() {
  for (const Block& block : blocks_)
    if (!block.device->isLost()) block.device->release(block.data, block.bytes);
}

Result<void*> DeviceMemory::take(Device* device, uint64_t bytes) {
  SVOD_TRY(void* data, device->allocate(bytes));
  blocks_.push_back({device, data, bytes});
  return data;
}

Status DeviceMemory::allocate(const LoadedPlan& loaded, std::vector<Device*> devices, std::vector<void*>& pointers) {
  loaded_ = &loaded;
  devices_ = std::move(devices);
  const Plan& plan = loaded.plan();
  arenas_.assign(plan.devices.size(), nullptr);
  for (DeviceId id = 1; id < plan.devices.size(); id++) {
    if (!has(id)) continue;
    // Buffers without elements have an address of the device, too.
    SVOD_TRY(arenas_[id], take(devices_[id], std::max(plan.devices[id].arenaBytes, kPlanAlignment)));
    void* const arena = arenas_[id];
    for (BufferId buffer = 0; buffer < plan.buffers.size(); buffer++)
      if (plan.buffers[buffer].place == Place::Arena && plan.buffers[buffer].device == id)
        pointers[buffer] = static_cast<std::byte*>(arena) + plan.buffers[buffer].offset;
  }
  for (StepId step = 0; step < plan.steps.size(); step++)
    if (const auto* launch = std::get_if<Launch>(&plan.steps[step].action)) SVOD_CHECK(placeConstants(step, *launch));
  return copyConstants();
}

Status DeviceMemory::placeConstants(StepId step, const Launch& launch) {
  const Plan& plan = loaded_->plan();
  DeviceId device = 0;
  for (BufferId id : launch.buffers) device = std::max(device, deviceOf(plan, id).value_or(0));
  if (!has(device)) return {};
  for (uint32_t i = 0; i < launch.buffers.size(); i++) {
    const BufferDesc& buffer = plan.buffers[launch.buffers[i]];
    const bool isView = buffer.place == Place::View;
    const BufferDesc& base = isView ? plan.buffers[buffer.base] : buffer;
    if (base.place != Place::Constant) continue;
    const uint64_t bytes = plan.constants[base.constant].bytes;
    const uint32_t argument = loaded_->program().steps[step].args.begin + i;
    if (bytes == 0) {
      arguments_.emplace_back(argument, arenas_[device]);
      continue;
    }
    const auto [at, isNew] = constants_.try_emplace({device, base.constant}, nullptr);
    if (isNew) {
      SVOD_TRY(at->second, take(devices_[device], bytes));
    }
    const uint64_t offset = isView ? buffer.offset : 0;
    arguments_.emplace_back(argument, static_cast<std::byte*>(at->second) + offset);
  }
  return {};
}

Status DeviceMemory::copyConstants() {
  for (const auto& [key, data] : constants_)
    SVOD_CHECK(
        copyIn(key.first, data, loaded_->constant(key.second), loaded_->plan().constants[key.second].bytes, "weights"));
  return {};
}

Status DeviceMemory::finish(DeviceId device, Device::Ticket ticket, const std::string& what) {
  const std::optional<Device::Failure> failed = devices_[device]->wait(ticket);
  if (!failed) return {};
  if (!devices_[device]->isLost()) devices_[device]->reset();
  return fail(
      Diag::DeviceFailure,
      says({"cannot copy ", what, " to or from device '", loaded_->plan().devices[device].name, "': ", failed->what}),
      helpAfterFailure(*devices_[device]));
}

Status DeviceMemory::copyIn(DeviceId device, void* to, const void* fromHost, uint64_t bytes, const std::string& what) {
  if (bytes == 0) return {};
  if (has(device)) return finish(device, devices_[device]->copyIn(to, fromHost, bytes, 0), what);
  std::memcpy(to, fromHost, bytes);
  return {};
}

Status DeviceMemory::copyOut(DeviceId device, void* toHost, const void* from, uint64_t bytes, const std::string& what) {
  if (bytes == 0) return {};
  if (has(device)) return finish(device, devices_[device]->copyOut(toHost, from, bytes, 0), what);
  std::memcpy(toHost, from, bytes);
  return {};
}

}  // namespace svod
