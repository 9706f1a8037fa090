#include "explain_gpu.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cost/warp_touches.h"
#include "machine/occupancy.h"

namespace svod {

namespace {

std::string counted(int64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// One line for all that are alike, in the order of the first of each.
void addTouches(KernelInsight& insight, const std::vector<WarpTouch>& touches) {
  const auto keyOf = [](const WarpTouch& t) {
    return std::tuple(t.isStore, t.isShared, storageOf(t.address).argAs<SlotArg>().slot, t.bytes, t.lanes, t.count,
                      t.least);
  };
  std::map<decltype(keyOf(touches[0])), int64_t> times;
  for (const WarpTouch& t : touches) times[keyOf(t)] += t.pieces;
  for (const WarpTouch& t : touches) {
    const auto known = times.find(keyOf(t));
    if (known == times.end()) continue;
    const uint32_t slot = storageOf(t.address).argAs<SlotArg>().slot;
    std::string what = counted(known->second, t.isStore ? "store" : "load") + " of " + counted(t.bytes, "byte") +
                       " by " + counted(t.lanes, "lane") + (t.isShared ? ", shared memory " : ", argument ") +
                       std::to_string(slot);
    insight.accesses.push_back({std::move(what), t.isShared ? "wavefronts" : "sectors", t.count, t.least});
    times.erase(known);
  }
}

/// The GPU that an image is for; nothing where its target does not know one.
std::optional<GpuTarget> gpuOf(const ImageTarget& image) {
  for (const Target* target : targets()) {
    if (!target->hasGrid() || target->deviceKind != image.device) continue;
    if (const Result<Machine> machine = target->machine("", image.arch)) return std::get<GpuTarget>(*machine);
  }
  return std::nullopt;
}

}  // namespace

void addUnits(KernelInsight& insight, const KernelDesc& kernel, std::span<const ImageTarget> images) {
  if (!kernel.grid) return;
  const Grid& grid = *kernel.grid;
  for (size_t i = 0; i < images.size(); ++i) {
    const KernelImage& image = grid.images[i];
    const std::optional<GpuTarget> gpu = gpuOf(images[i]);
    if (!gpu || image.registers == 0) continue;
    const auto threads = static_cast<int64_t>(grid.threads[0] * grid.threads[1] * grid.threads[2]);
    const auto shared = static_cast<int64_t>(grid.sharedBytes + image.sharedBytes);
    const Occupancy occupancy = occupancyOf(*gpu, {image.registers, shared, threads});
    insight.images.push_back({images[i].arch, occupancy.groups, occupancy.share, occupancy.limit});
  }
}

void addLogs(KernelInsight& insight, const CompiledKernel& kernel) {
  for (ImageView& image : insight.images)
    for (size_t i = 0; i < kernel.notes.size(); ++i) {
      if (kernel.notes[i].arch != image.arch) continue;
      image.spillBytes = kernel.notes[i].spillBytes;
      image.warnings = kernel.notes[i].warnings;
    }
}

void addText(KernelInsight& insight, const CompiledKernel& kernel) {
  addLogs(insight, kernel);
  addTouches(insight, warpTouches(kernel.linear.ops));
}

}  // namespace svod
