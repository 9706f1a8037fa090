#include "compile/options.h"

#include <algorithm>

namespace svod {

std::vector<CompileOptions> optionsByTarget(const CompileOptions& options) {
  std::vector<CompileOptions> all = {options};
  for (const DeviceTarget& device : options.devices) {
    if (std::ranges::any_of(all, [&](const auto& o) { return o.target->deviceKind == device.target->deviceKind; }))
      continue;
    all.push_back(options);
    CompileOptions& own = all.back();
    own.target = device.target, own.machine = device.machine, own.variants = device.variants, own.tools = device.tools;
  }
  return all;
}

const CpuTarget* hostProcessor(const CompileOptions& options) {
  if (options.target->deviceKind == DeviceKind::Cpu) return std::get_if<CpuTarget>(&options.machine);
  const auto device = std::ranges::find(options.devices, DeviceKind::Cpu,
                                        [](const DeviceTarget& other) { return other.target->deviceKind; });
  return device == options.devices.end() ? nullptr : std::get_if<CpuTarget>(&device->machine);
}

std::vector<CompileOptions> optionsOfVariants(std::span<const CompileOptions> byTarget) {
  std::vector<CompileOptions> all;
  for (const CompileOptions& options : byTarget)
    for (const Machine& machine : options.variants) {
      CompileOptions& own = all.emplace_back(options);
      own.machine = machine, own.variants.clear();
    }
  std::ranges::stable_partition(all, [](const CompileOptions& o) { return o.target->hasGrid(); });
  return all;
}

}  // namespace svod
