#include "target_flags.h"

#include <algorithm>

namespace svod {

namespace {

/// Of a row with a text.
std::string Flags::* memberOf(std::string_view flag) {
  return std::get<std::string Flags::*>(std::ranges::find(allFlags(), flag, &FlagInfo::name)->member);
}

std::vector<Machine> machinesOf(const auto& compiledFor) {
  std::vector<Machine> machines = {compiledFor.machine};
  machines.insert(machines.end(), compiledFor.variants.begin(), compiledFor.variants.end());
  return machines;
}

/// A flag of a target that none of these is.
Status checkUsed(std::span<const Target* const> used, const Flags& flags) {
  for (const Target* target : targets()) {
    if (std::ranges::find(used, target) != used.end()) continue;
    const std::string name(target->name);
    for (const TargetFlag& flag : target->flags)
      if (!flag.mayIdle && !(flags.*memberOf(flag.name)).empty())
        return fail(
            Diag::Usage, "--" + std::string(flag.name) + " is for target " + name + ", which this plan has not",
            "add --target " + name + ", or --device NAME=" + name + ", or leave --" + std::string(flag.name) + " out");
  }
  return {};
}

}  // namespace

TargetFlags flagsOf(const Target& target, const Flags& flags) {
  TargetFlags values;
  for (const TargetFlag& flag : target.flags) values[std::string(flag.name)] = flags.*memberOf(flag.name);
  return values;
}

Flags flagsFor(const Target& target, const Flags& flags, bool runs) {
  Flags own = flags;
  own.target = target.name;
  for (const Target* other : targets())
    for (const TargetFlag& flag : other->flags) (own.*memberOf(flag.name)).clear();
  if (const auto& [flag, value] = target.withoutBuild; !runs && !flag.empty()) own.*memberOf(flag) = value;
  return own;
}

Result<std::vector<Machine>> machinesFor(const Target& target, const Flags& flags, const std::string& processor) {
  std::vector<std::string> names = {processor};
  if (target.machineNames != nullptr) {
    const std::string flag(target.machineFlag);
    if (!flags.cpu.empty())
      return fail(Diag::Usage, "--cpu is for processors; target " + std::string(target.name) + " has --" + flag,
                  "leave --cpu out, or give --" + flag);
    SVOD_TRY(names, target.machineNames(processor.empty() ? flags.*memberOf(flag) : processor));
  }
  std::vector<Machine> machines;
  for (const std::string& name : names) {
    SVOD_TRY(Machine machine, target.machine(flags.triple, name));
    machines.push_back(std::move(machine));
  }
  return machines;
}

Status openTools(const Request& request, CompileOptions& options) {
  const Flags& flags = request.flags;
  std::vector<const Target*> used = {options.target};
  for (const DeviceTarget& device : options.devices) used.push_back(device.target);
  SVOD_CHECK(checkUsed(used, flags));
  const auto opened = [&](const auto& compiledFor) -> Result<std::shared_ptr<const TargetTools>> {
    const Target& target = *compiledFor.target;
    if (target.open == nullptr) return nullptr;
    const std::vector<Machine> machines = machinesOf(compiledFor);
    return target.open({flagsOf(target, flags), machines, request.environment.forTools,
                        request.environment.tempDirectory, flags.reproducible});
  };
  SVOD_TRY(options.tools, opened(options));
  for (DeviceTarget& device : options.devices) {
    SVOD_TRY(device.tools, opened(device));
  }
  return {};
}

}  // namespace svod
