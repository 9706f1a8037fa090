// A program with an emulated grid for each device of kind cuda that the plan has: it runs plans that hold CUDA C.
#include <cstdlib>

#include "common/lent_devices.h"
#include "cuda_grid/grid_device.h"

using namespace svod;

extern "C" int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options,
                                           svod_instance** instance, svod_error* error);

namespace {

/// Which architecture's kernels run, of a plan for several.
std::string archOfUser() {
  const char* const arch = std::getenv("SVOD_GRID_ARCH");
  return arch == nullptr ? "" : arch;
}

/// SVOD_GRID_DELAY is eager, lazy or random, all of them without it; SVOD_GRID_SEED is a number.
std::vector<GridOptions> gridsOfUser() {
  const char *delay = std::getenv("SVOD_GRID_DELAY"), *seed = std::getenv("SVOD_GRID_SEED");
  std::vector<GridOptions> grids = {{Delay::Eager}, {Delay::Lazy}, {Delay::Random}};
  if (delay != nullptr) grids = {grids[delay[0] == 'e' ? 0 : delay[0] == 'l' ? 1 : 2]};
  for (GridOptions& grid : grids)
    if (seed != nullptr) grid.seed = static_cast<uint32_t>(std::strtoul(seed, nullptr, 10));
  return grids;
}

}  // namespace

int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                                svod_error* error) {
  static Linker linker("/tmp");
  return createWithLentDevices(plan, options, instance, error, "cuda", [](size_t) {
    constexpr uint32_t kSeed = 1, kMostMicroseconds = 20;
    return std::make_unique<GridDevice>(kSeed, kMostMicroseconds, gridsOfUser(), linker, archOfUser());
  });
}
