#include <algorithm>

#include "support/suggest.h"
#include "target/opencl/target.h"

namespace svod::opencl {

namespace {

/// Limits of workgroups, and figures of no device in particular, which predictions use. A name is the architecture of
/// images (runtime-opencl/limits.def).
struct Row {
  std::string_view name;
  int threads;
  int sharedKiB;
  int units, clockMHz, l2MiB, memoryGBs;
};
constexpr Row kRows[] = {
    {"portable", 256, 32, 32, 1500, 4, 200},  // what full profiles of OpenCL 1.2 have on GPUs
    {"small", 64, 16, 8, 800, 1, 20},         // of phones, boards and older devices
};

}  // namespace

Result<Machine> machine(std::string_view, std::string_view name) {
  const Row* const row = name.empty() ? kRows : std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows)) {
    std::vector<std::string_view> names;
    for (const Row& known : kRows) names.push_back(known.name);
    return fail(Diag::Usage, "target opencl has no limits '" + std::string(name) + "'", choicesFor(name, names));
  }
  GpuTarget gpu;
  gpu.name = row->name, gpu.family = GpuFamily::Portable;
  gpu.limits.group = {row->threads, row->threads, std::min(row->threads, 64)};
  gpu.maxThreads = row->threads;
  gpu.sharedBytes = int64_t{row->sharedKiB} << 10, gpu.unitSharedBytes = gpu.sharedBytes;
  gpu.units = row->units, gpu.clockMHz = row->clockMHz;
  gpu.l2Bytes = int64_t{row->l2MiB} << 20, gpu.memoryMBs = row->memoryGBs * 1000, gpu.l2MBs = 2 * gpu.memoryMBs;
  return Machine(std::move(gpu));
}

}  // namespace svod::opencl
