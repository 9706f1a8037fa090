#include "explain_gpu.h"

#include "driver/cuda_target.h"
#include "machine/occupancy.h"
#include "target/cuda/warp_access.h"

namespace svod {

void addUnits(KernelInsight& insight, const KernelDesc& kernel, std::span<const std::string> archs) {
  if (!kernel.grid) return;
  const Grid& grid = *kernel.grid;
  for (size_t i = 0; i < archs.size(); ++i) {
    const KernelImage& image = grid.images[i];
    const std::optional<GpuTarget> gpu = cuda::gpuFor(archs[i]);
    if (!gpu || image.registers == 0) continue;
    const auto threads = static_cast<int64_t>(grid.threads[0] * grid.threads[1] * grid.threads[2]);
    const auto shared = static_cast<int64_t>(grid.sharedBytes + image.sharedBytes);
    const Occupancy occupancy = occupancyOf(*gpu, {image.registers, shared, threads});
    insight.images.push_back({archs[i], occupancy.groups, occupancy.share, occupancy.limit});
  }
}

void addText(KernelInsight& insight, const CompiledKernel& kernel) {
  for (ImageView& image : insight.images)
    for (size_t i = 0; i < kernel.gpuLogs.size(); ++i) {
      if (kernel.gpuLogs[i].arch != image.arch) continue;
      image.spillBytes = kernel.gpuLogs[i].spillBytes;
      image.warnings = kernel.gpuLogs[i].warnings;
    }
  for (const WarpAccess& access : warpAccessesOf(kernel.linear, kernel.desc.grid->threads)) {
    std::string what = std::to_string(access.count) + (access.isStore ? " store" : " load");
    what += (access.count == 1 ? " of " : "s of ") + std::to_string(access.bytes) +
            (access.bytes == 1 ? " byte" : " bytes");
    what += " by " + std::to_string(access.lanes) + (access.lanes == 1 ? " lane, " : " lanes, ");
    what += (access.isShared ? "shared memory " : "argument ") + std::to_string(access.slot);
    insight.accesses.push_back(
        {std::move(what), access.isShared ? "wavefronts" : "sectors", access.transfers, access.least});
  }
}

}  // namespace svod
