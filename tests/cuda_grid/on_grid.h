// Options of e2e/harness.h for plans of target cuda that run on emulated grids.
#pragma once
#include <filesystem>

#include "cuda_grid/grid_device.h"
#include "e2e/harness.h"

namespace svod {

inline constexpr Delay kDelays[] = {Delay::Eager, Delay::Lazy, Delay::Random};

/// With delays of every mode; the seed is also that of the queues.
inline RunOptions onGrid(int optLevel, Numerics numerics, uint32_t seed, std::string archs = "sm_80") {
  RunOptions options;
  options.target = "cuda", options.cpu = std::move(archs);
  options.optLevel = optLevel, options.numerics = numerics;
  options.execute.separate = false;
  options.execute.deviceSeed = seed;
  options.execute.makeDevice = [seed](const DeviceDesc&, uint32_t ofQueue,
                                      uint32_t most) -> std::unique_ptr<SeparateDevice> {
    std::vector<GridOptions> grids;
    for (Delay delay : kDelays) grids.push_back({delay, seed});
    return std::make_unique<GridDevice>(ofQueue, most, grids, *compileOptions({}).linker);
  };
  return options;
}

}  // namespace svod
