// Which images an OpenCL device takes, and what it says of them.
#include <algorithm>
#include <chrono>

#include "runtime-opencl/opencl_device.h"
#include "support/says.h"

namespace svod::opencl {

namespace {

struct Limits {
  std::string_view name;
  uint64_t threads, localBytes;
};
constexpr uint32_t kLimitsVersion = 120;  // OpenCL C 1.2
constexpr Limits kLimits[] = {
#define LIMITS(name, threads, localBytes) {name, threads, localBytes},
#include "runtime-opencl/limits.def"
#undef LIMITS
};

bool fits(const Limits& limits, const OpenClInfo& info) {
  return limits.threads <= info.threads && limits.localBytes <= info.localBytes;
}

/// "OpenCL C 1.2 .." as 120; 0 for another text.
uint32_t versionOf(const std::string& language) {
  constexpr std::string_view kBegin = "OpenCL C ";
  if (!language.starts_with(kBegin) || language.size() < kBegin.size() + 3) return 0;
  const auto digit = [&](size_t i) { return static_cast<uint32_t>(language[kBegin.size() + i] - '0'); };
  return digit(0) <= 9 && digit(2) <= 9 ? digit(0) * 100 + digit(2) * 10 : 0;
}

}  // namespace

/// The images for the largest limits that it has; where it has none, those for the smallest, as their kernels may need
/// less.
Result<std::string_view> OpenClDevice::choose(std::span<const FileDesc> files) {
  if (!info_.isFull || versionOf(info_.language) < kLimitsVersion)
    return svod::fail(Diag::CpuFeatures,
                      says({nameText(info_), ", cannot build kernels in OpenCL C 1.2 of the full profile: it has ",
                            info_.language.empty() ? "no compiler" : info_.language.c_str()}),
                      "run on another device: svod-run --list-devices shows them");
  const Limits* best = nullptr;
  for (const Limits& limits : kLimits) {
    const bool isThere = std::ranges::any_of(files, [&](const FileDesc& file) {
      return file.kind == FileKind::Image && file.image.device == kKind && file.image.arch == limits.name;
    });
    if (isThere && (best == nullptr || !fits(*best, info_))) best = &limits;
  }
  if (best == nullptr)
    return svod::fail(Diag::CpuFeatures, says({"no image of the plan is for limits that ", nameText(info_), " knows"}),
                      "compile the graph with --target opencl");
  limits_ = best->name;
  return best->name;
}

Result<Program> OpenClDevice::programOf(const KernelDesc& kernel, const DeviceImage& image) {
  if (const auto known = programs_.find(image.file.path); known != programs_.end()) return known->second;
  SVOD_CHECK(checkFits(info_, kernel));
  const std::string_view text(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
  const auto begin = std::chrono::steady_clock::now();
  SVOD_TRY(const Program program, buildProgram(cl_, context_, info_, image.file.path, text));
  milliseconds_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  return programs_[image.file.path] = program;
}

Result<const void*> OpenClDevice::load(const KernelDesc& kernel, const DeviceImage& image) {
  const std::lock_guard lock(mutex_);
  SVOD_TRY(const Program program, programOf(kernel, image));
  SVOD_TRY(OpenClKernel found, findKernel(cl_, info_, program, kernel));
  return kernels_.emplace_back(std::make_unique<OpenClKernel>(std::move(found))).get();
}

std::vector<std::string> OpenClDevice::describe() const {
  std::vector<std::string> lines = {longText(info_)};
  if (!kernels_.empty())
    lines.push_back(says({"runs ", kernels_.size(), kernels_.size() == 1 ? " kernel for " : " kernels for ", limits_,
                          ", built in ", static_cast<uint64_t>(milliseconds_), " ms"}));
  return lines;
}

std::vector<std::string> OpenClDevice::notes() const {
  std::vector<std::string> lines;
  if (std::ranges::any_of(kernels_, [](const auto& kernel) { return kernel->dividesLoosely; }))
    lines.push_back(says({nameText(info_), ", divides f32 within 2.5 units of the last place, not rounded"}));
  if (!kernels_.empty() && !info_.hasSubnormals())
    lines.push_back(says({nameText(info_), ", takes subnormal f32 for zeros"}));
  return lines;
}

}  // namespace svod::opencl
