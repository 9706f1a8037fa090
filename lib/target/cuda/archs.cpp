#include <algorithm>

#include "plan/image_rule.h"
#include "support/suggest.h"
#include "target/cuda/target.h"

namespace svod::cuda {

namespace {

constexpr std::string_view kUsual = "sm_80";

Result<GpuTarget> gpuNamed(const std::string& name) {
  if (const std::optional<GpuTarget> gpu = gpuFor(name)) return *gpu;
  return fail(Diag::Usage, "there is no architecture '" + name + "' for --cuda-arch",
              choicesFor(name, gpuNames()) + "; compute_80 and the like are PTX, which the driver compiles");
}

/// Best first, as devices take the first that they can run: exact code before that of a family, before plain code,
/// before PTX; the newest of each.
bool comesBefore(const std::string& a, const std::string& b) {
  const auto place = [](const CudaArch& arch) {
    return std::tuple(arch.isPtx, -static_cast<int>(arch.form), -static_cast<int>(arch.capability.major),
                      -static_cast<int>(arch.capability.minor));
  };
  return place(*parseCudaArch(a)) < place(*parseCudaArch(b));
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    parts.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

std::optional<GpuTarget> gpuFor(std::string_view name) {
  const std::optional<CudaArch> arch = parseCudaArch(name);
  if (!arch) return std::nullopt;
  const uint32_t major = arch->capability.major * 10;
  if (arch->form == CudaArch::Form::Exact)
    if (auto gpu = findGpu("sm_" + std::to_string(major + arch->capability.minor) + "a")) return gpu;
  for (uint32_t minor = arch->capability.minor + 1; minor-- > 0;)
    if (auto gpu = findGpu("sm_" + std::to_string(major + minor))) return gpu;
  return std::nullopt;
}

Result<std::vector<std::string>> archsOf(std::string_view list) {
  std::vector<std::string> names = split(list.empty() ? kUsual : list);
  for (const std::string& name : names) SVOD_CHECK(gpuNamed(name).transform([](const GpuTarget&) {}));
  std::ranges::sort(names, comesBefore);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

Result<Machine> machine(std::string_view, std::string_view arch) {
  const std::string name(arch.empty() ? kUsual : arch);
  SVOD_TRY(GpuTarget gpu, gpuNamed(name));
  gpu.name = name;
  return Machine(std::move(gpu));
}

}  // namespace svod::cuda
