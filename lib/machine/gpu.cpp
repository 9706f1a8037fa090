#include "machine/gpu.h"

#include <algorithm>

namespace svod {

namespace {

std::string extents(const std::array<int64_t, 3>& e) {
  return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
}

struct GpuRow {
  std::string_view name;
  int generation;
  std::string_view card;
  int sharedKiB, unitSharedKiB, unitThreads, unitGroups, lanes, coreLanes, warpgroupLanes, units, clockMHz, l2MiB,
      l2GBs, memoryGBs;
};
constexpr GpuRow kGpus[] = {
#define GPU(...) {__VA_ARGS__},
#include "machine/gpus.def"
#undef GPU
};

}  // namespace

std::optional<GpuTarget> findGpu(std::string_view name) {
  const auto row = std::ranges::find(kGpus, name, &GpuRow::name);
  if (row == std::end(kGpus)) return std::nullopt;
  GpuTarget gpu;
  gpu.name = row->name, gpu.generation = row->generation;
  gpu.sharedBytes = int64_t{row->sharedKiB} << 10, gpu.unitSharedBytes = int64_t{row->unitSharedKiB} << 10;
  gpu.unitThreads = row->unitThreads, gpu.unitGroups = row->unitGroups;
  gpu.lanes = row->lanes, gpu.coreLanes = row->coreLanes, gpu.warpgroupLanes = row->warpgroupLanes;
  gpu.units = row->units, gpu.clockMHz = row->clockMHz;
  gpu.l2Bytes = int64_t{row->l2MiB} << 20, gpu.l2MBs = row->l2GBs * 1000, gpu.memoryMBs = row->memoryGBs * 1000;
  return gpu;
}

std::vector<std::string_view> gpuNames() {
  std::vector<std::string_view> names;
  for (const GpuRow& row : kGpus) names.push_back(row.name);
  return names;
}

std::string toText(const GpuTarget& gpu) {
  constexpr const char* kFamilies[] = {"cuda", "metal", "portable"};
  const char* family = kFamilies[static_cast<size_t>(gpu.family)];
  return "gpu: " + gpu.name + "\nfamily: " + family + ", generation " + std::to_string(gpu.generation) +
         "\ngrid: " + extents(gpu.limits.grid) + " workgroups\nworkgroup: " + std::to_string(gpu.maxThreads) +
         " threads, at most " + extents(gpu.limits.group) + "\nshared: " + std::to_string(gpu.sharedBytes) +
         " bytes\nL2: " + std::to_string(gpu.l2Bytes) + " bytes\nunits: " + std::to_string(gpu.units) +
         "\nclock: " + std::to_string(gpu.clockMHz) + " MHz, " + std::to_string(gpu.memoryMBs) + " MB/s of memory\n";
}

}  // namespace svod
