#include "machine/occupancy.h"

#include <algorithm>

namespace svod {

namespace {

constexpr int64_t kWarp = 32, kRegisterPiece = 256, kSharedOfSystem = 1 << 10;

int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

}  // namespace

Occupancy occupancyOf(const GpuTarget& gpu, const GpuNeeds& needs) {
  const int64_t warps = std::max<int64_t>(1, (needs.threads + kWarp - 1) / kWarp);
  const int64_t registersOfWarp = roundUp(std::max<int64_t>(1, needs.registers) * kWarp, kRegisterPiece);
  const struct {
    int64_t groups;
    std::string_view limit;
  } limits[] = {
      {gpu.unitThreads / (warps * kWarp), "threads"},
      {gpu.registers / registersOfWarp / warps, "registers"},
      {gpu.unitSharedBytes / (needs.sharedBytes + kSharedOfSystem), "shared memory"},
      {gpu.unitGroups, "workgroups"},
  };
  const auto& least = *std::ranges::min_element(limits, {}, [](const auto& row) { return row.groups; });
  return {least.groups, static_cast<double>(least.groups * warps * kWarp) / gpu.unitThreads, least.limit};
}

}  // namespace svod
