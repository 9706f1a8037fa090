#include "runtime-min/device_code.h"
#include "runtime-min/drivers.h"
#include "support/says.h"

#include <map>

namespace svod {

Status checkDevices(const Plan& plan, std::span<Device* const> devices) {
  for (DeviceId id = 0; id < plan.devices.size(); id++) {
    const DeviceDesc& wanted = plan.devices[id];
    const Device* device = id < devices.size() ? devices[id] : nullptr;
    const std::string_view kind = device == nullptr ? std::string_view(DeviceKind::Cpu) : device->kind();
    if (kind != wanted.kind)
      return fail(
          Diag::NoDevice,
          says({"the plan needs a device of kind '", wanted.kind, "', which it calls '", wanted.name,
                "'; there is none here, nor a library ", driverLibrary(wanted.kind), " that drives such devices"}),
          "install the component for such devices beside the runtime, or compile the graph for another --target");
    if (wanted.sharedBytes > 0)
      return fail(
          Diag::Unsupported,
          says({"device '", wanted.name, "' has an arena that the host shares, which this runtime does not have"}),
          "compile the graph again with the svodc that belongs to this runtime");
  }
  return {};
}

namespace {

Result<const void*> loadOn(Device& device, const LoadedPlan& loaded, const KernelDesc& kernel) {
  SVOD_TRY(const std::string_view arch, device.choose(loaded.plan().files));
  for (const KernelImage& image : kernel.grid->images) {
    const FileDesc& file = loaded.plan().files[image.file];
    if (file.image.device == device.kind() && file.image.arch == arch)
      return device.load(kernel, {file, image, loaded.image(image.file)});
  }
  return fail(Diag::BadPlan, says({"kernel '", kernel.name, "' has no image for ", arch}), "compile the graph again");
}

}  // namespace

Result<LoadedKernels> loadKernels(const LoadedPlan& loaded, std::span<Device* const> devices) {
  const Plan& plan = loaded.plan();
  LoadedKernels kernels;
  std::map<std::pair<DeviceId, KernelId>, const void*> known;
  const auto load = [&](const Launch& launch, DeviceId device) -> Result<const void*> {
    const auto [at, isNew] = known.try_emplace({device, launch.kernel}, nullptr);
    if (isNew) {
      SVOD_TRY(at->second, loadOn(*devices[device], loaded, plan.kernels[launch.kernel]));
    }
    return at->second;
  };
  for (StepId step = 0; step < plan.steps.size(); step++) {
    const auto* launch = std::get_if<Launch>(&plan.steps[step].action);
    if (launch == nullptr || !plan.kernels[launch->kernel].grid) continue;
    const DeviceId device = deviceOf(plan, *launch);
    kernels.own.resize(plan.steps.size(), nullptr);
    kernels.cases.resize(loaded.program().cases.size(), nullptr);
    SVOD_TRY(kernels.own[step], load(*launch, device));
    uint32_t at = loaded.program().steps[step].cases.begin;
    for (const LaunchCase& one : launch->cases) {
      SVOD_TRY(kernels.cases[at++], load(one.launch, device));
    }
  }
  return kernels;
}

}  // namespace svod
