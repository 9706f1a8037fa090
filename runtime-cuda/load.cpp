// Images become modules of the device, and their kernels functions.
#include <chrono>

#include "plan/image_archive.h"
#include "runtime-cuda/cuda_device.h"
#include "support/says.h"

namespace svod::cuda {

namespace {

std::string archList(std::span<const DeviceImage> images) {
  std::string list;
  for (const DeviceImage& image : images) list += (list.empty() ? "" : ", ") + image.file.image.arch;
  return list;
}

/// "; sm_80, for 8.0 to 8.9, does not run here": of each image but the one that is taken.
std::string othersText(std::span<const DeviceImage> images, size_t taken, CudaCapability device) {
  std::string text;
  for (size_t i = 0; i < images.size(); i++) {
    const std::optional<CudaArch> arch = parseCudaArch(images[i].file.image.arch);
    if (i == taken || !arch) continue;
    text += says({"; ", images[i].file.image.arch, ", for ", runsOnText(*arch),
                  fitOf(*arch, device) == 0 ? ", does not run here" : ", fits less well"});
  }
  return text;
}

}  // namespace

/// Among those that the driver is new enough for.
Result<size_t> CudaDevice::choose(const KernelDesc& kernel, std::span<const DeviceImage> images) const {
  std::vector<std::string_view> all, loadable;
  for (const DeviceImage& image : images) {
    all.push_back(image.file.image.arch);
    const bool isNewEnough = static_cast<uint32_t>(driver_.version()) >= image.file.image.driver;
    loadable.push_back(isNewEnough ? all.back() : "");
  }
  if (const auto index = chooseCudaImage(loadable, info_.capability, choice_.mayJit)) return *index;
  if (const auto index = chooseCudaImage(all, info_.capability, choice_.mayJit))
    return svod::fail(Diag::CpuFeatures,
                      says({"the driver is too old for '", images[*index].file.path, "': it has CUDA ",
                            versionText(driver_.version()), ", the image needs ",
                            versionText(static_cast<int>(images[*index].file.image.driver))}),
                      says({"install a driver of branch ",
                            driverBranchText(static_cast<int>(images[*index].file.image.driver)), " or later"}));
  const bool isForJit = !choice_.mayJit && chooseCudaImage(all, info_.capability, true).has_value();
  return svod::fail(Diag::CpuFeatures,
                    says({"no image of kernel '", kernel.name, "' runs on ", nameText(info_), ": the plan has ",
                          archList(images), isForJit ? ", and PTX is not to be compiled here" : ""}),
                    says({"compile the graph with --cuda-arch ", cudaArchFor(info_.capability), " as well",
                          isForJit ? ", or run without --no-jit" : ""}));
}

Result<Module> CudaDevice::loadModule(const DeviceImage& image, std::span<const std::byte> code,
                                      const KernelDesc& kernel) {
  char infos[1024] = "", errors[2048] = "";
  JitOption options[] = {kInfoLog, kInfoLogBytes, kErrorLog, kErrorLogBytes};
  void* values[] = {infos, reinterpret_cast<void*>(sizeof infos), errors, reinterpret_cast<void*>(sizeof errors)};
  Module module = nullptr;
  const Code result = driver_.cuModuleLoadDataEx(&module, code.data(), 4, options, values);
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

Result<const void*> CudaDevice::load(const KernelDesc& kernel, std::span<const DeviceImage> images) {
  const Current current(driver_, context_);
  if (current.code() != kSuccess) return driver_.failed(current.code(), says({"load kernel '", kernel.name, "'"}));
  SVOD_TRY(const size_t index, choose(kernel, images));
  const DeviceImage& image = images[index];
  const std::optional<std::span<const std::byte>> code = codeIn(image.bytes, kernel.symbol);
  if (!code)
    return svod::fail(Diag::BadPlan, says({"'", image.file.path, "' has no kernel '", kernel.symbol, "'"}),
                      "compile the graph again");
  const auto begin = std::chrono::steady_clock::now();
  SVOD_TRY(const Module module, loadModule(image, *code, kernel));
  modules_.push_back(module);
  const auto took = std::chrono::steady_clock::now() - begin;
  SVOD_TRY(DeviceKernel found, findKernel(driver_, info_, module, kernel));
  Image& from = images_[image.file.path];
  from.arch = image.file.image.arch;
  from.others = othersText(images, index, info_.capability);
  from.isPtx = parseCudaArch(from.arch)->isPtx;
  from.kernels++;
  from.milliseconds += std::chrono::duration<double, std::milli>(took).count();
  return kernels_.emplace_back(std::make_unique<DeviceKernel>(std::move(found))).get();
}

std::vector<std::string> CudaDevice::describe() const {
  std::vector<std::string> lines = {longText(info_, driver_)};
  for (const auto& [path, image] : images_)
    lines.push_back(says({"runs ", image.kernels, image.kernels == 1 ? " kernel of " : " kernels of ", path, ", ",
                          image.arch, ", for ", runsOnText(*parseCudaArch(image.arch)), image.others}));
  return lines;
}

std::vector<std::string> CudaDevice::notes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines = notes_;
  for (const auto& [path, image] : images_)
    if (image.isPtx)
      lines.push_back(
          says({"the driver compiled ", image.kernels, image.kernels == 1 ? " kernel of '" : " kernels of '", path,
                "', which is PTX, in ", static_cast<uint64_t>(image.milliseconds), " ms: --cuda-arch ",
                cudaArchFor(info_.capability), " gives the plan code for ", nameText(info_)}));
  return lines;
}

}  // namespace svod::cuda
