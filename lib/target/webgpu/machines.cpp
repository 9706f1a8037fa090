#include <algorithm>

#include "support/suggest.h"
#include "target/webgpu/target.h"

namespace svod::webgpu {

namespace {

/// Limits of workgroups, and figures of no adapter in particular, which predictions use. A name is the architecture of
/// images (runtime-webgpu/limits.def).
struct Limits {
  std::string_view name;
  int threads;
  int sharedKiB;
  int units, clockMHz, l2MiB, memoryGBs;
};
constexpr Limits kLimits[] = {
    {"default", 256, 16, 8, 1000, 1, 50},   // what every adapter of WebGPU has
    {"large", 1024, 32, 32, 1500, 4, 200},  // of adapters of desktop computers
};

}  // namespace

Result<Machine> machine(std::string_view, std::string_view name) {
  const Limits* const row = name.empty() ? kLimits : std::ranges::find(kLimits, name, &Limits::name);
  if (row == std::end(kLimits)) {
    std::vector<std::string_view> names;
    for (const Limits& known : kLimits) names.push_back(known.name);
    return fail(Diag::Usage, "target webgpu has no limits '" + std::string(name) + "'", choicesFor(name, names));
  }
  GpuTarget gpu;
  gpu.name = row->name, gpu.family = GpuFamily::Portable;
  gpu.limits.group = {row->threads, row->threads, 64};
  gpu.maxThreads = row->threads;
  gpu.sharedBytes = int64_t{row->sharedKiB} << 10, gpu.unitSharedBytes = gpu.sharedBytes;
  gpu.units = row->units, gpu.clockMHz = row->clockMHz;
  gpu.l2Bytes = int64_t{row->l2MiB} << 20, gpu.memoryMBs = row->memoryGBs * 1000, gpu.l2MBs = 2 * gpu.memoryMBs;
  return Machine(std::move(gpu));
}

}  // namespace svod::webgpu
