// A program with a driver for devices of kind emulated: its instances are lent one for each that the plan has. With
// SVOD_TEST_LOSE=N in the environment the first of them is lost with the work that comes after N pieces.
#include <cstdlib>

#include "common/lent_devices.h"
#include "emulated/emulated_device.h"

using namespace svod;

extern "C" int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options,
                                           svod_instance** instance, svod_error* error);

int __wrap_svod_instance_create(const svod_plan* plan, const svod_instance_options* options, svod_instance** instance,
                                svod_error* error) {
  return createWithLentDevices(plan, options, instance, error, "emulated", [](size_t before) {
    constexpr uint32_t kSeed = 1, kMostMicroseconds = 20;
    auto made = std::make_unique<EmulatedDevice>(kSeed, kMostMicroseconds);
    if (const char* pieces = std::getenv("SVOD_TEST_LOSE"); pieces != nullptr && before == 0)
      made->loseAfter(std::strtoull(pieces, nullptr, 10));
    return made;
  });
}
