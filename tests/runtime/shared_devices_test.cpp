#include "runtime/shared_devices.h"

TEST_CASE("16 threads with 16 instances over two separate devices") { CHECK(svod::wrongRunsOnSharedDevices(20) == 0); }
