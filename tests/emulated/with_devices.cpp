// A program with a driver for devices of kind emulated: its instances are lent one for each that the plan has. With
// SVOD_TEST_LOSE=N in the environment the first of them is lost with the work that comes after N pieces.
#include <cstdlib>

#include "emulated/emulated_device.h"
#include "runtime-min/handles.h"

using namespace svod;

extern "C" int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options,
                                           svod_instance** instance, svod_error* error);

int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                                svod_error* error) {
  constexpr uint32_t kSeed = 1, kMostMicroseconds = 20;
  static std::vector<std::unique_ptr<Device>> devices;  // as long as the program, so longer than instances
  std::vector<Device*> lent;
  for (const DeviceDesc& device : plan->loaded->plan().devices) {
    const bool isEmulated = device.kind == "emulated";
    if (isEmulated) {
      auto made = std::make_unique<EmulatedDevice>(kSeed, kMostMicroseconds);
      if (const char* pieces = std::getenv("SVOD_TEST_LOSE"); pieces != nullptr && devices.empty())
        made->loseAfter(std::strtoull(pieces, nullptr, 10));
      devices.push_back(std::move(made));
    }
    lent.push_back(isEmulated ? devices.back().get() : nullptr);
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
