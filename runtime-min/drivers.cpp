#include "runtime-min/drivers.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "support/says.h"

namespace svod {

namespace {

bool isName(std::string_view kind) {
  return !kind.empty() && kind.size() <= 32 &&
         std::ranges::all_of(kind, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// Of the library or program that this code is in, and of the program.
std::vector<std::string> ownFolders() {
  std::vector<std::string> files;
  Dl_info own = {};
  if (::dladdr(reinterpret_cast<const void*>(&findDriver), &own) != 0 && own.dli_fname != nullptr)
    files.emplace_back(own.dli_fname);
  char program[PATH_MAX];
  if (const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program); length > 0)
    files.emplace_back(program, static_cast<size_t>(length));
  std::vector<std::string> folders;
  for (const std::string& file : files)
    if (const size_t end = file.rfind('/'); end != std::string::npos) folders.push_back(file.substr(0, end + 1));
  return folders;
}

/// Beside that, in a folder lib next to it, or where the loader looks.
void* openLibrary(const std::string& name) {
  for (const std::string& folder : ownFolders())
    for (const char* way : {"", "../lib/"})
      if (void* library = ::dlopen((folder + way + name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))
        return library;
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

}  // namespace

std::string driverLibrary(std::string_view kind) { return says({"libsvod-", kind, ".so.0"}); }

Result<std::unique_ptr<DeviceDriver>> findDriver(std::string_view kind) {
  void* const library = isName(kind) ? openLibrary(driverLibrary(kind)) : nullptr;
  if (library == nullptr) return nullptr;
  const auto entry = reinterpret_cast<DriverEntry>(::dlsym(library, says({"svod_device_driver_", kind}).c_str()));
  std::unique_ptr<DeviceDriver> driver(entry == nullptr ? nullptr : entry(driverVersion().c_str()));
  if (driver != nullptr) return driver;
  return fail(Diag::NoDevice, says({"the library ", driverLibrary(kind), " belongs to another release of svod"}),
              "install the one that came with this runtime");
}

std::vector<DeviceOption> optionsFor(const char* device, std::span<const svod_device_option> options) {
  std::vector<DeviceOption> mine;
  for (const svod_device_option& option : options)
    if (device == nullptr || option.device == nullptr || std::strcmp(option.device, device) == 0)
      mine.push_back({option.name, option.value});
  return mine;
}

Result<std::vector<std::unique_ptr<Device>>> openDevices(const Plan& plan,
                                                         std::span<const svod_device_option> options) {
  for (const svod_device_option& option : options)
    if (option.device != nullptr &&
        std::ranges::none_of(plan.devices, [&](const DeviceDesc& d) { return d.name == option.device; }))
      return fail(Diag::Usage, says({"the plan has no device '", option.device, "'"}),
                  "svodc inspect PLAN names those it has");
  std::vector<std::unique_ptr<Device>> devices(plan.devices.size());
  std::unique_ptr<DeviceDriver> driver;
  for (DeviceId id = 1; id < plan.devices.size(); id++) {
    const DeviceDesc& wanted = plan.devices[id];
    if (wanted.kind == DeviceKind::Cpu) continue;
    SVOD_TRY(driver, findDriver(wanted.kind));
    if (driver == nullptr) continue;
    uint32_t position = 0;
    for (DeviceId other = 1; other < id; ++other) position += plan.devices[other].kind == wanted.kind;
    SVOD_TRY(devices[id], driver->open(position, optionsFor(wanted.name.c_str(), options)));
  }
  return devices;
}

}  // namespace svod
