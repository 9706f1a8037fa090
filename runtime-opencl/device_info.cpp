#include "runtime-opencl/device_info.h"

#include "support/says.h"

namespace svod::opencl {

namespace {

constexpr const char* kNoneHelp =
    "clinfo lists those there are; a driver puts a file into /etc/OpenCL/vendors, and pocl-opencl-icd runs on "
    "processors";

std::string textOf(const Loader& cl, DeviceId device, Number what) {
  char text[512] = "";
  if (cl.clGetDeviceInfo(device, what, sizeof text - 1, text, nullptr) != kSuccess) return {};
  return text;
}

template <class T>
void ask(const Loader& cl, DeviceId device, Number what, T& to) {
  T value = {};
  if (cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == kSuccess) to = value;
}

OpenClInfo infoOf(const Loader& cl, PlatformId platform, DeviceId device) {
  OpenClInfo info;
  info.device = device;
  char text[256] = "";
  if (cl.clGetPlatformInfo(platform, kPlatformName, sizeof text - 1, text, nullptr) == kSuccess) info.platform = text;
  info.name = textOf(cl, device, kName), info.driver = textOf(cl, device, kDriverVersion);
  info.version = textOf(cl, device, kVersion), info.language = textOf(cl, device, kLanguageVersion);
  ask(cl, device, kType, info.type);
  ask(cl, device, kComputeUnits, info.units);
  ask(cl, device, kGlobalBytes, info.bytes);
  ask(cl, device, kMaxAllocation, info.mostAtOnce);
  ask(cl, device, kLocalBytes, info.localBytes);
  size_t size = 0;
  ask(cl, device, kParameterBytes, size);
  info.parameterBytes = size;
  ask(cl, device, kWorkGroupSize, size);
  info.threads = size;
  ask(cl, device, kWorkItemSizes, info.threadsAlong);
  ask(cl, device, kSingleConfig, info.singles);
  ask(cl, device, kDoubleConfig, info.doubles);
  Number isAvailable = 0, hasCompiler = 0;
  ask(cl, device, kIsAvailable, isAvailable);
  ask(cl, device, kHasCompiler, hasCompiler);
  info.isFull = isAvailable != 0 && hasCompiler != 0 && textOf(cl, device, kProfile) == "FULL_PROFILE";
  return info;
}

}  // namespace

Result<std::vector<OpenClInfo>> allDevices(const Loader& cl) {
  constexpr Number kMost = 64;
  PlatformId platforms[kMost] = {};
  Number count = 0;
  const Code code = cl.clGetPlatformIDs(kMost, platforms, &count);
  if (code != kSuccess && code != kNoPlatform) return failed(code, "ask for the platforms of OpenCL");
  std::vector<OpenClInfo> all;
  for (Number p = 0; p < count && p < kMost; p++) {
    DeviceId devices[kMost] = {};
    Number found = 0;
    if (cl.clGetDeviceIDs(platforms[p], kAllDevices, kMost, devices, &found) != kSuccess) continue;
    for (Number d = 0; d < found && d < kMost; d++) {
      all.push_back(infoOf(cl, platforms[p], devices[d]));
      all.back().ordinal = static_cast<int>(all.size()) - 1;
    }
  }
  if (all.empty()) return fail(Diag::NoDevice, "OpenCL has no device on this machine", kNoneHelp);
  return all;
}

std::string nameText(const OpenClInfo& info) { return says({"opencl:", info.ordinal, ", ", info.name}); }

std::string longText(const OpenClInfo& info) {
  const char* type = (info.type & kTypeGpu) != 0           ? "GPU"
                     : (info.type & kTypeCpu) != 0         ? "processor"
                     : (info.type & kTypeAccelerator) != 0 ? "accelerator"
                                                           : "device";
  return says({nameText(info), ", ", type, " of ", info.platform, ", ", info.version, ", driver ", info.driver, ", ",
               info.units, " units, ", info.bytes >> 20, " MiB, workgroups of ", info.threads, " threads and ",
               info.localBytes >> 10, " KiB", info.hasDoubles() ? "" : ", no f64"});
}

}  // namespace svod::opencl
