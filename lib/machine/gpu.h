// What a GPU can do, as data: the counterpart of CpuTarget for kernels that run as a grid of workgroups.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/gpu_family.h"

namespace svod {

/// Largest grid (in workgroups) and workgroup (in threads) per dimension x, y, z.
struct GpuLimits {
  std::array<int64_t, 3> grid{2147483647, 65535, 65535};
  std::array<int64_t, 3> group{1024, 1024, 64};
  bool operator==(const GpuLimits&) const = default;
};

/// A GPU to compile for. Sizes are bytes.
struct GpuTarget {
  std::string name;  // "sm_90a"
  GpuFamily family = GpuFamily::Cuda;
  int generation = 0;  // of the family: which tensor cores there are
  GpuLimits limits;
  int maxThreads = 1024;           // of a workgroup in all
  int64_t sharedBytes = 48 << 10;  // that the threads of a workgroup share
  int64_t l2Bytes = 4 << 20;
  int units = 1;         // multiprocessors: workgroups that run at the same time, at least
  int clockMHz = 1000;   // typical, as the next: predictions use them
  int memoryMBs = 8000;  // MB per second between all units and memory
  int l2MBs = 16000;     // the same between all units and L2
  // Of one unit, for workgroups that share it:
  int64_t unitSharedBytes = 48 << 10;
  int registers = 65536;  // of 32 bits
  int unitThreads = 2048, unitGroups = 32;
  int lanes = 64;          // multiply-adds of f32 per clock
  int coreLanes = 0;       // multiply-adds of f16 per clock by tensor cores, as warps issue them
  int warpgroupLanes = 0;  // the same as warpgroups do, where code for this architecture alone is made

  bool operator==(const GpuTarget&) const = default;
};

/// Those of NVIDIA by the name of their architecture (gpus.def). Nothing for an unknown name.
std::optional<GpuTarget> findGpu(std::string_view name);
std::vector<std::string_view> gpuNames();

/// Several lines of `name: value` for people.
std::string toText(const GpuTarget& gpu);

}  // namespace svod
