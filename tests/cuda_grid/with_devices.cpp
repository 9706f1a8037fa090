// A program with an emulated grid for each device of kind cuda that the plan has: it runs plans that hold CUDA C.
#include <cstdlib>

#include "cuda_grid/grid_device.h"
#include "runtime-min/handles.h"

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
  constexpr uint32_t kSeed = 1, kMostMicroseconds = 20;
  static Linker linker("/tmp");
  static std::vector<std::unique_ptr<Device>> devices;  // as long as the program, so longer than instances
  std::vector<Device*> lent;
  for (const DeviceDesc& device : plan->loaded->plan().devices) {
    const bool isGrid = device.kind == "cuda";
    if (isGrid) devices.push_back(std::make_unique<GridDevice>(kSeed, kMostMicroseconds, optionsOfUser(), linker));
    lent.push_back(isGrid ? devices.back().get() : nullptr);
  }
  const svod_instance_options chosen = options != nullptr ? *options : svod_instance_options{};
  auto made = Instance::create(plan->loaded, chosen, chosen.pool == nullptr ? nullptr : &chosen.pool->pool, lent);
  if (made) {
    *instance = new svod_instance{std::move(*made)};
    return 0;
  }
  const Error& reason = made.error();
  std::snprintf(error->message, sizeof error->message, "%s", reason->message.c_str());
  std::snprintf(error->help, sizeof error->help, "%s", reason->help.c_str());
  std::snprintf(error->code, sizeof error->code, "%s", info(reason->diag).code.data());
  return error->exit_code = info(reason->diag).exitCode;
}
