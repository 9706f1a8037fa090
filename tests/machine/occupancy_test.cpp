// Workgroups on a unit of a GPU, beside figures of NVIDIA's occupancy calculator.
#include <catch2/catch.hpp>

#include "machine/occupancy.h"

using namespace svod;

namespace {

Occupancy on(const char* gpu, const GpuNeeds& needs) { return occupancyOf(*findGpu(gpu), needs); }

}  // namespace

TEST_CASE("workgroups on a unit are limited by what runs out first") {
  CHECK(on("sm_80", {32, 0, 256}).groups == 8);  // 2048 threads
  CHECK(on("sm_80", {32, 0, 256}).share == 1);
  CHECK(on("sm_80", {32, 0, 256}).limit == "threads");
  CHECK(on("sm_80", {65, 0, 256}).groups == 3);  // 72 registers for each thread
  CHECK(on("sm_80", {65, 0, 256}).limit == "registers");
  CHECK(on("sm_80", {168, 0, 384}).groups == 1);
  CHECK(on("sm_80", {255, 0, 288}).groups == 0);  // 9 warps of 8192 registers
  CHECK(on("sm_80", {255, 0, 288}).limit == "registers");
  CHECK(on("sm_90a", {32, 100 << 10, 128}).groups == 2);
  CHECK(on("sm_90a", {32, 100 << 10, 128}).limit == "shared memory");
  CHECK(on("sm_80", {16, 0, 32}).groups == 32);
  CHECK(on("sm_80", {16, 0, 32}).share == 0.5);
  CHECK(on("sm_80", {16, 0, 32}).limit == "workgroups");
  CHECK(on("sm_86", {40, 0, 1024}).groups == 1);
  CHECK(on("sm_75", {64, 0, 1}).groups == 16);
}
