#include "processors.h"

#include <algorithm>

#include "driver/kernel_job.h"
#include "target_flags.h"

namespace svod {

DeviceText deviceText(const std::string& text) {
  const size_t equals = text.find('='), colon = text.find(':', std::min(equals, text.size()));
  DeviceText parts{text.substr(0, equals), "", ""};
  if (equals != std::string::npos) parts.target = text.substr(equals + 1, colon - equals - 1);
  if (colon != std::string::npos) parts.cpu = text.substr(colon + 1);
  return parts;
}

Result<std::vector<std::string>> cpuNamesOf(const Flags& flags) {
  constexpr size_t kMost = 64;
  std::vector<std::string> names;
  for (size_t at = 0; at <= flags.cpu.size();) {
    const size_t comma = std::min(flags.cpu.find(',', at), flags.cpu.size());
    names.push_back(flags.cpu.substr(at, comma - at));
    at = comma + 1;
  }
  for (size_t i = 0; i < names.size() && names.size() > 1; ++i)
    if (names[i].empty() || std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
                                names.begin() + static_cast<ptrdiff_t>(i))
      return fail(
          Diag::Usage,
          "--cpu '" + flags.cpu + "' has " + (names[i].empty() ? "a name that is empty" : "'" + names[i] + "' twice"),
          "names with commas between, such as --cpu x86-64-v2,x86-64-v3");
  if (names.size() > kMost)
    return fail(Diag::Usage, "--cpu has " + std::to_string(names.size()) + " names",
                "at most " + std::to_string(kMost));
  return names;
}

Status checkOneProcessor(const Flags& flags, const std::string& what, const std::string& help) {
  SVOD_TRY(const std::vector<std::string> names, cpuNamesOf(flags));
  if (names.size() == 1) return {};
  return fail(Diag::Usage, what + " is for one processor, and --cpu names " + std::to_string(names.size()), help);
}

Result<CpuTarget> cpuTarget(const Flags& flags) {
  SVOD_TRY(const std::vector<std::string> names, cpuNamesOf(flags));
  return makeCpuTarget(flags.triple, names[0].empty() ? usualCpu(flags.triple) : names[0]);
}

namespace {

/// Whether `cpu`, or what `target` takes for an empty one, is the processor of this machine.
bool meansNative(const Target& target, std::string_view triple, std::string_view cpu) {
  if (!cpu.empty()) return cpu == "native";
  return target.usualProcessor == "native" && usualCpu(triple) == "native";
}

/// native has the name of a row of the table, which may be among the others.
Status checkNew(const Machine& machine, const std::string& given, const CompileOptions& options, bool isFirst) {
  const auto* cpu = std::get_if<CpuTarget>(&machine);
  const auto isSame = [&](const Machine& other) { return std::get<CpuTarget>(other).name == cpu->name; };
  if (isFirst || cpu == nullptr || !(isSame(options.machine) || std::ranges::any_of(options.variants, isSame)))
    return {};
  return fail(Diag::Usage, "--cpu has '" + cpu->name + "' twice: as '" + given + "' as well", "leave one of them out");
}

}  // namespace

std::vector<bool> areNative(const Flags& flags) {
  const Result<std::vector<std::string>> names = cpuNamesOf(flags);
  const Result<const Target*> target = targetByName(flags.target);
  if (!names || !target) return {};
  std::vector<bool> are;
  for (const std::string& name : *names) are.push_back(meansNative(**target, flags.triple, name));
  return are;
}

bool isNative(const Flags& flags) {
  const std::vector<bool> are = areNative(flags);
  return std::ranges::find(are, true) != are.end();
}

Status checkReproducible(const Flags& flags) {
  if (!flags.reproducible) return {};
  constexpr const char* kName = "name it: --cpu x86-64-v3, or another one that svodc targets shows";
  if (isNative(flags))
    return fail(Diag::Usage, "--reproducible, and the plan would be for the processor of this machine", kName);
  for (const std::string& text : flags.device) {
    const DeviceText device = deviceText(text);
    const Result<const Target*> target = targetByName(device.target.empty() ? flags.target : device.target);
    const bool isOwn = device.target.empty() || (device.target == flags.target && device.cpu.empty());
    if (target && !isOwn && meansNative(**target, flags.triple, device.cpu))
      return fail(Diag::Usage, "--reproducible, and --device '" + text + "' would be for the processor of this machine",
                  "name it: --device " + device.name + "=" + device.target + ":x86-64-v3");
  }
  return {};
}

Status takeMachines(const Flags& flags, CompileOptions& options) {
  SVOD_TRY(const std::vector<std::string> names, cpuNamesOf(flags));
  for (const std::string& name : names) {
    SVOD_TRY(const std::vector<Machine> machines, machinesFor(*options.target, flags, name));
    for (const Machine& given : machines) {
      Machine machine = machineFor(given, options.numerics);
      const bool isFirst = &name == names.data() && &given == machines.data();
      SVOD_CHECK(checkNew(machine, name, options, isFirst));
      if (isFirst)
        options.machine = std::move(machine);
      else
        options.variants.push_back(std::move(machine));
    }
  }
  return {};
}

}  // namespace svod
