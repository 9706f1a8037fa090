#include "cuda_options.h"

#include <algorithm>
#include <filesystem>

#include "driver/cuda_target.h"

namespace svod {

namespace {

constexpr std::string_view kNone = "none";

bool isCuda(const Target& target) { return target.deviceKind == cuda::kDeviceKind; }

std::string valueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return {};
}

/// The folders of pip's packages below `prefix`/lib/python3.N/`packages`, for CUDA 13 and 12.
void addPackages(std::vector<std::string>& folders, const std::string& prefix) {
  if (prefix.empty()) return;
  std::error_code error;
  std::vector<std::string> found;
  for (const auto& python : std::filesystem::directory_iterator(prefix + "/lib", error)) {
    if (!python.path().filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"})
      for (const char* nvidia : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
        found.push_back((python.path() / packages / nvidia).string());
  }
  std::ranges::sort(found, std::greater<>());
  folders.insert(folders.end(), found.begin(), found.end());
}

}  // namespace

Result<std::vector<Machine>> machinesFor(const Target& target, const Flags& flags, const std::string& processor) {
  std::vector<Machine> machines;
  if (!isCuda(target)) {
    SVOD_TRY(Machine machine, target.machine(flags.triple, processor));
    machines.push_back(std::move(machine));
    return machines;
  }
  if (!flags.cpu.empty())
    return fail(Diag::Usage, "--cpu is for processors; target cuda has architectures",
                "such as --cuda-arch sm_80,sm_90a");
  SVOD_TRY(const std::vector<std::string> archs, cuda::archsOf(processor.empty() ? flags.cudaArch : processor));
  for (const std::string& arch : archs) {
    SVOD_TRY(Machine machine, target.machine("", arch));
    machines.push_back(std::move(machine));
  }
  return machines;
}

Status addNvrtc(const Request& request, CompileOptions& options) {
  const Flags& flags = request.flags;
  const bool isUsed = isCuda(*options.target) ||
                      std::ranges::any_of(options.devices, [](const DeviceTarget& d) { return isCuda(*d.target); });
  if (!isUsed && !flags.cudaArch.empty())
    return fail(Diag::Usage, "--cuda-arch is for target cuda, which this plan has not",
                "add --target cuda, or --device NAME=cuda, or leave --cuda-arch out");
  if (!isUsed || flags.nvrtc == kNone) return {};
  SVOD_TRY(Nvrtc nvrtc, Nvrtc::open(flags.nvrtc, nvrtcFolders(request.environment.forTools)));
  options.nvrtc = std::make_shared<const Nvrtc>(std::move(nvrtc));
  return {};
}

std::vector<std::string> nvrtcFolders(const std::vector<std::string>& environment) {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string toolkit = valueOf(environment, name); !toolkit.empty())
      for (const char* library : {"/lib64", "/lib"}) folders.push_back(toolkit + library);
  addPackages(folders, valueOf(environment, "VIRTUAL_ENV"));
  addPackages(folders, valueOf(environment, "CONDA_PREFIX"));
  if (const std::string home = valueOf(environment, "HOME"); !home.empty()) addPackages(folders, home + "/.local");
  for (const char* library : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"}) folders.emplace_back(library);
  addPackages(folders, "/usr/local");
  addPackages(folders, "/usr");
  return folders;
}

}  // namespace svod
