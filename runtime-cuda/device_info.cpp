#include "runtime-cuda/device_info.h"

#include "support/says.h"

namespace svod::cuda {

namespace {

/// As nvidia-smi shows it.
std::string uuidText(const Uuid& uuid) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof uuid.bytes; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4], text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

Result<int> deviceCount(const Driver& driver) {
  int count = 0;
  SVOD_CUDA(driver, "count the CUDA devices", cuDeviceGetCount(&count));
  return count;
}

Result<DeviceInfo> deviceInfo(const Driver& driver, int ordinal) {
  const std::string what = says({"ask for what cuda:", ordinal, " is"});
  DeviceInfo info;
  info.ordinal = ordinal;
  SVOD_CUDA(driver, what, cuDeviceGet(&info.device, ordinal));
  char name[256] = "";
  SVOD_CUDA(driver, what, cuDeviceGetName(name, sizeof name - 1, info.device));
  info.name = name;
  size_t bytes = 0;
  SVOD_CUDA(driver, what, cuDeviceTotalMem(&bytes, info.device));
  info.bytes = bytes;
  Uuid uuid;
  if (driver.cuDeviceGetUuid != nullptr && driver.cuDeviceGetUuid(&uuid, info.device) == kSuccess)
    info.uuid = uuidText(uuid);
  const auto ask = [&](DeviceAttribute attribute, auto& to) -> Status {
    int value = 0;
    SVOD_CUDA(driver, what, cuDeviceGetAttribute(&value, attribute, info.device));
    to = static_cast<std::remove_reference_t<decltype(to)>>(value);
    return {};
  };
  SVOD_CHECK(ask(kCapabilityMajor, info.capability.major));
  SVOD_CHECK(ask(kCapabilityMinor, info.capability.minor));
  SVOD_CHECK(ask(kMultiprocessors, info.multiprocessors));
  SVOD_CHECK(ask(kMostSharedBytes, info.sharedBytesUnasked));
  SVOD_CHECK(ask(kMostSharedBytesOptIn, info.sharedBytes));
  return info;
}

std::string nameText(const DeviceInfo& info) {
  return says({"cuda:", info.ordinal, ", ", info.name, ", compute capability ", toText(info.capability)});
}

std::string longText(const DeviceInfo& info, const Driver& driver) {
  return says({nameText(info), ", ", info.multiprocessors, " multiprocessors, ", info.bytes >> 20,
               " MiB, driver for CUDA ", versionText(driver.version()), info.uuid.empty() ? "" : ", ", info.uuid});
}

}  // namespace svod::cuda
