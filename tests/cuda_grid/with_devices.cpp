// A program with an emulated grid for each device of kind cuda that the plan has: it runs plans that hold CUDA C.
#include <cstdlib>

#include "common/lent_devices.h"
#include "cuda_grid/grid_device.h"

using namespace svod;

extern "C" int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options,
                                           svod_instance** instance, svod_error* error);

namespace {

/// SVOD_GRID_DELAY is eager, lazy or random, SVOD_GRID_SEED a number.
GridOptions optionsOfUser() {
  GridOptions options;
  const char *delay = std::getenv("SVOD_GRID_DELAY"), *seed = std::getenv("SVOD_GRID_SEED");
  if (delay != nullptr) options.delay = delay[0] == 'e' ? Delay::Eager : delay[0] == 'l' ? Delay::Lazy : Delay::Random;
  if (seed != nullptr) options.seed = static_cast<uint32_t>(std::strtoul(seed, nullptr, 10));
  return options;
}

}  // namespace

int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                                svod_error* error) {
  static Linker linker("/tmp");
  return createWithLentDevices(plan, options, instance, error, "cuda", [](size_t) {
    constexpr uint32_t kSeed = 1, kMostMicroseconds = 20;
    return std::make_unique<GridDevice>(kSeed, kMostMicroseconds, optionsOfUser(), linker);
  });
}
