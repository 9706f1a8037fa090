#include "driver/device_kernels.h"

#include <algorithm>
#include <map>

#include "driver/describe_kernel.h"
#include "driver/plan_builder.h"
#include "plan/directory.h"

namespace svod {

namespace {

const DeviceTarget* targetOf(const CompileOptions& options, std::string_view device) {
  const auto found = std::ranges::find(options.devices, device, &DeviceTarget::name);
  return found == options.devices.end() ? nullptr : &*found;
}

/// The index of its options.
size_t indexOf(std::span<const CompileOptions> options, std::string_view deviceKind) {
  const auto found =
      std::ranges::find_if(options, [&](const CompileOptions& o) { return o.target->deviceKind == deviceKind; });
  return static_cast<size_t>(found - options.begin());
}

/// Kernels as far as the places of buffers depend on them: what they read and write.
std::vector<KernelDesc> withoutCode(const Schedule& schedule) {
  std::vector<KernelDesc> kernels(schedule.kernels.size());
  for (const ScheduleItem& item : schedule.items) {
    if (item.kind != ItemKind::Launch) continue;
    std::vector<KernelArg>& args = kernels[static_cast<size_t>(item.kernel)].args;
    args.clear();
    for (size_t slot = 0; slot < item.args.size(); ++slot)
      args.push_back({ElementType::F32, item.writes[slot] ? Mode::Write : Mode::Read, 0});
  }
  return kernels;
}

/// The kinds of the devices that launches run on, in the order of the schedule's.
Result<std::vector<std::string>> kindsOfLaunches(const Model& model, const Schedule& schedule,
                                                 const CompileOptions& options) {
  const std::vector<KernelDesc> kernels = withoutCode(schedule);
  std::vector<PlannedKernel> planned;
  for (const KernelDesc& kernel : kernels) planned.push_back({kernel, {}});
  PlanOptions plain;
  const PlanDevices devices = planDevices(model, options);
  plain.devices = devices.table, plain.usual = devices.usual, plain.memory = MemoryMode::Off;
  WeightsLayout weights(0);
  std::deque<LargeBytes> constants;
  SVOD_TRY(const Plan plan, buildPlan(model, schedule, planned, plain, weights, constants));
  std::vector<std::string> kinds;
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action))
      kinds.push_back(plan.devices[deviceOf(plan, *launch)].kind);
  return kinds;
}

}  // namespace

PlanDevices planDevices(const Model& model, const CompileOptions& options) {
  PlanDevices devices;
  devices.table.push_back({model.devices[0], DeviceKind::Cpu, 0});
  const std::string own(options.target->deviceKind);
  for (const std::string& name : std::span(model.devices).subspan(1)) {
    const DeviceTarget* other = targetOf(options, name);
    devices.table.push_back({name, other == nullptr ? own : std::string(other->target->deviceKind), 0});
  }
  auto usual = std::ranges::find(devices.table, own, &DeviceDesc::kind);
  if (usual == devices.table.end()) usual = devices.table.insert(usual, {own, own, 0});
  devices.usual = DeviceId(usual - devices.table.begin());
  return devices;
}

Result<std::vector<size_t>> assignTargets(const Model& model, Schedule& schedule, const CompileOptions& options) {
  const std::vector<CompileOptions> targets = optionsByTarget(options);
  std::vector<size_t> targetOfKernel(schedule.kernels.size(), 0);
  if (targets.size() == 1) return targetOfKernel;
  SVOD_TRY(const std::vector<std::string> kinds, kindsOfLaunches(model, schedule, options));
  std::map<std::pair<int, size_t>, int> kernelFor;  // of a kernel, for a target
  std::vector<bool> isTaken(schedule.kernels.size(), false);
  auto kind = kinds.begin();
  for (ScheduleItem& item : schedule.items) {
    if (item.kind != ItemKind::Launch) continue;
    const size_t target = indexOf(targets, *kind++);
    const auto [own, isNew] = kernelFor.try_emplace({item.kernel, target}, item.kernel);
    const auto kernel = static_cast<size_t>(item.kernel);
    if (isNew && !isTaken[kernel]) {
      isTaken[kernel] = true, targetOfKernel[kernel] = target;
    } else if (isNew) {
      own->second = static_cast<int>(schedule.kernels.size());
      Kernel copy{std::make_unique<Graph>(), {}, {}, schedule.kernels[kernel].inPlace};
      copy.sink = copy.graph->clone(schedule.kernels[kernel].sink);
      copy.name = schedule.kernels[kernel].name + "_" + std::string(targets[target].target->name);
      schedule.kernels.push_back(std::move(copy));
      targetOfKernel.push_back(target);
    }
    item.kernel = own->second;
  }
  return targetOfKernel;
}

}  // namespace svod
