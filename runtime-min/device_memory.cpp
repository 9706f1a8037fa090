#include "runtime-min/device_memory.h"

namespace svod {

DeviceMemory::~DeviceMemory() {
  for (const Block& block : blocks_) block.device->release(block.data, block.bytes);
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
  for (const auto& [key, data] : constants_) {
    Device* device = devices_[key.first];
    const Plan& plan = loaded_->plan();
    const uint64_t bytes = plan.constants[key.second].bytes;
    if (const auto failed = device->wait(device->copyIn(data, loaded_->constant(key.second), bytes, 0))) {
      device->reset();
      return fail(Diag::DeviceFailure,
                  "cannot copy weights to device '" + plan.devices[key.first].name + "': " + failed->what,
                  "run again; the device starts anew");
    }
  }
  return {};
}

}  // namespace svod
