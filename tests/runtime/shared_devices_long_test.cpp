#include "runtime/shared_devices.h"

TEST_CASE("16 threads with 16 instances over two separate devices, 10,000 runs") {
  CHECK(svod::wrongRunsOnSharedDevices(625) == 0);
}
