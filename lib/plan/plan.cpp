#include "plan/plan.h"

namespace svod {

bool Launch::operator==(const Launch& other) const {
  return kernel == other.kernel && buffers == other.buffers && values == other.values && cases == other.cases;
}

std::vector<std::string> variableNames(const Plan& plan) {
  std::vector<std::string> names;
  names.reserve(plan.variables.size());
  for (const Variable& variable : plan.variables) names.push_back(variable.name);
  return names;
}

bool isLaidOutPerRun(const Plan& plan) {
  for (const BufferDesc& buffer : plan.buffers)
    if (buffer.run) return true;
  return false;
}

uint64_t arenaBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (const DeviceDesc& device : plan.devices) bytes += device.arenaBytes + device.sharedBytes;
  return bytes;
}

std::optional<DeviceId> deviceOf(const Plan& plan, BufferId buffer) {
  const BufferDesc& desc = plan.buffers[buffer];
  if (desc.place == Place::Constant) return std::nullopt;
  if (desc.place == Place::View) return deviceOf(plan, desc.base);
  return desc.place == Place::Arena || desc.place == Place::State ? desc.device : DeviceId();
}

DeviceId deviceOf(const Plan& plan, const Launch& launch) {
  for (BufferId id : launch.buffers)
    if (const std::optional<DeviceId> device = deviceOf(plan, id)) return *device;
  return 0;
}

bool runsOn(const Plan& plan, const KernelDesc& kernel, std::string_view deviceKind) {
  if (!kernel.grid) return deviceKind == DeviceKind::Cpu;
  for (const KernelImage& image : kernel.grid->images)
    if (plan.files[image.file].image.device == deviceKind) return true;
  return false;
}

}  // namespace svod
