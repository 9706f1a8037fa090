// Images become modules of the device, and their kernels functions.
#include <algorithm>
#include <chrono>

#include "runtime-cuda/cuda_device.h"
#include "support/says.h"

namespace svod::cuda {

namespace {

/// The architectures of the plan's images, with what they need of a driver.
std::vector<ImageTarget> archsOf(std::span<const FileDesc> files) {
  std::vector<ImageTarget> archs;
  for (const FileDesc& file : files) {
    if (file.kind != FileKind::Image || file.image.device != CudaDevice::kKind) continue;
    const auto isSame = [&](const ImageTarget& known) { return known.arch == file.image.arch; };
    if (const auto known = std::ranges::find_if(archs, isSame); known != archs.end())
      known->driver = std::max(known->driver, file.image.driver);
    else
      archs.push_back(file.image);
  }
  return archs;
}

std::string listOf(std::span<const ImageTarget> archs) {
  std::string list;
  for (const ImageTarget& each : archs) list += (list.empty() ? "" : ", ") + each.arch;
  return list;
}

/// "; sm_80, for 8.0 to 8.9, does not run here": of each but the one that is taken.
std::string othersText(std::span<const ImageTarget> archs, size_t taken, CudaCapability device) {
  std::string text;
  for (size_t i = 0; i < archs.size(); i++) {
    const std::optional<CudaArch> arch = parseCudaArch(archs[i].arch);
    if (i == taken || !arch) continue;
    text += says({"; ", archs[i].arch, ", for ", runsOnText(*arch),
                  fitOf(*arch, device) == 0 ? ", does not run here" : ", fits less well"});
  }
  return text;
}

}  // namespace

/// Among those that the driver is new enough for.
Result<std::string_view> CudaDevice::choose(std::span<const FileDesc> files) {
  const std::vector<ImageTarget> archs = archsOf(files);
  std::vector<std::string_view> all, loadable;
  for (const ImageTarget& each : archs) {
    all.push_back(each.arch);
    loadable.push_back(static_cast<uint32_t>(driver_.version()) >= each.driver ? all.back() : "");
  }
  if (const auto index = chooseCudaImage(loadable, info_.capability, choice_.mayJit)) {
    if (loaded_.arch != all[*index]) loaded_ = {std::string(all[*index]), othersText(archs, *index, info_.capability)};
    return loaded_.arch;
  }
  if (const auto index = chooseCudaImage(all, info_.capability, choice_.mayJit)) {
    const auto needed = static_cast<int>(archs[*index].driver);
    return svod::fail(Diag::CpuFeatures,
                      says({"the driver is too old for the images for ", all[*index], ": it has CUDA ",
                            versionText(driver_.version()), ", they need ", versionText(needed)}),
                      says({"install a driver of branch ", driverBranchText(needed), " or later"}));
  }
  const bool isForJit = !choice_.mayJit && chooseCudaImage(all, info_.capability, true).has_value();
  return svod::fail(Diag::CpuFeatures,
                    says({"no image of the plan runs on ", nameText(info_), ": it has those for ", listOf(archs),
                          isForJit ? ", and PTX is not to be compiled here" : ""}),
                    says({"compile the graph with --cuda-arch ", cudaArchFor(info_.capability), " as well",
                          isForJit ? ", or run without --no-jit" : ""}));
}

/// One module for each image, however many kernels it has.
Result<Module> CudaDevice::moduleOf(const DeviceImage& image, const KernelDesc& kernel) {
  if (const auto known = modules_.find(image.file.path); known != modules_.end()) return known->second;
  const auto begin = std::chrono::steady_clock::now();
  SVOD_TRY(const Module module, loadModule(image, kernel));
  modules_[image.file.path] = module;
  const auto took = std::chrono::steady_clock::now() - begin;
  loaded_.milliseconds += std::chrono::duration<double, std::milli>(took).count();
  return module;
}

Result<Module> CudaDevice::loadModule(const DeviceImage& image, const KernelDesc& kernel) {
  // The driver reads the text of PTX up to a zero, and machine code as far as that says itself.
  std::string text;
  if (loaded_.isPtx()) text.assign(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
  const void* const code = text.empty() ? static_cast<const void*>(image.bytes.data()) : text.c_str();
  char infos[1024] = "", errors[2048] = "";
  JitOption options[] = {kInfoLog, kInfoLogBytes, kErrorLog, kErrorLogBytes};
  void* values[] = {infos, reinterpret_cast<void*>(sizeof infos), errors, reinterpret_cast<void*>(sizeof errors)};
  Module module = nullptr;
  const Code result = driver_.cuModuleLoadDataEx(&module, code, 4, options, values);
  if (result == kSuccess) return module;
  const std::string what = says({"load kernel '", kernel.name, "' of '", image.file.path, "' on ", nameText(info_)});
  if (result == kOutOfMemory || endsContext(result)) return driver_.failed(result, what);
  errors[sizeof errors - 1] = '\0';
  const std::string_view log = std::string_view(errors).substr(0, 400);
  const std::string message = says({"cannot ", what, ": ", driver_.nameOf(result), log.empty() ? "" : ": ", log});
  const std::string archs = says({"compile the graph with --cuda-arch ", cudaArchFor(info_.capability)});
  if (result == kUnsupportedPtx || result == kNoJitCompiler)
    return svod::fail(Diag::CpuFeatures, message, says({"install a newer driver, or ", archs}));
  return svod::fail(Diag::BadPlan, message, archs);
}

Result<const void*> CudaDevice::load(const KernelDesc& kernel, const DeviceImage& image) {
  const Current current(driver_, context_);
  if (current.code() != kSuccess) return driver_.failed(current.code(), says({"load kernel '", kernel.name, "'"}));
  SVOD_TRY(const Module module, moduleOf(image, kernel));
  SVOD_TRY(DeviceKernel found, findKernel(driver_, info_, module, kernel));
  loaded_.kernels++;
  return kernels_.emplace_back(std::make_unique<DeviceKernel>(std::move(found))).get();
}

std::vector<std::string> CudaDevice::describe() const {
  std::vector<std::string> lines = {longText(info_, driver_)};
  if (loaded_.kernels > 0)
    lines.push_back(says({"runs ", loaded_.kernels, loaded_.kernels == 1 ? " kernel for " : " kernels for ",
                          loaded_.arch, ", which is for ", runsOnText(*parseCudaArch(loaded_.arch)), loaded_.others}));
  return lines;
}

std::vector<std::string> CudaDevice::notes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines = notes_;
  if (loaded_.kernels > 0 && loaded_.isPtx())
    lines.push_back(
        says({"the driver compiled ", loaded_.kernels, loaded_.kernels == 1 ? " kernel" : " kernels", " of PTX for ",
              loaded_.arch, " in ", static_cast<uint64_t>(loaded_.milliseconds), " ms: --cuda-arch ",
              cudaArchFor(info_.capability), " gives the plan code for ", nameText(info_)}));
  return lines;
}

}  // namespace svod::cuda
