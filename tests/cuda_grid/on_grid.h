// Options of e2e/harness.h for plans of target cuda that run on emulated grids.
#pragma once
#include <filesystem>

#include "cuda_grid/grid_device.h"
#include "e2e/harness.h"

namespace svod {

/// With the delays of `grid`; the seed of it is also that of the queues.
inline RunOptions onGrid(int optLevel, Numerics numerics, GridOptions grid, std::string archs = "sm_80") {
  RunOptions options;
  options.target = "cuda", options.cpu = std::move(archs);
  options.optLevel = optLevel, options.numerics = numerics;
  options.execute.separate = false;
  options.execute.deviceSeed = grid.seed;
  options.execute.makeDevice = [grid](const DeviceDesc&, uint32_t seed,
                                      uint32_t most) -> std::unique_ptr<SeparateDevice> {
    return std::make_unique<GridDevice>(seed, most, grid, *compileOptions({}).linker);
  };
  return options;
}

inline constexpr Delay kDelays[] = {Delay::Eager, Delay::Lazy, Delay::Random};

}  // namespace svod
