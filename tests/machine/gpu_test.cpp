// GPU records: the table is well formed, names resolve.
#include <catch2/catch.hpp>
#include <set>

#include "machine/gpu.h"

using namespace svod;

TEST_CASE("every GPU row is a consistent record") {
  std::set<std::string_view> seen;
  for (const std::string_view name : gpuNames()) {
    INFO(name);
    CHECK(seen.insert(name).second);
    const std::optional<GpuTarget> gpu = findGpu(name);
    REQUIRE(gpu);
    CHECK(gpu->name == name);
    const std::string number = std::to_string(gpu->generation);
    CHECK((name == "sm_" + number || name == "sm_" + number + "a"));
    CHECK(gpu->sharedBytes <= gpu->unitSharedBytes);
    CHECK(gpu->unitSharedBytes <= 228 << 10);
    CHECK(gpu->maxThreads <= gpu->unitThreads);
    CHECK((gpu->unitThreads % 256 == 0 && gpu->unitGroups >= 16 && gpu->registers == 65536));
    CHECK((gpu->lanes == 64 || gpu->lanes == 128));
    CHECK(gpu->coreLanes >= 2 * gpu->lanes);
    CHECK(gpu->memoryMBs < gpu->l2MBs);
    CHECK(toText(*gpu).find(std::string(name)) != std::string::npos);
  }
  for (const char* name : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"})
    CHECK(seen.contains(name));
  CHECK_FALSE(findGpu("sm_13"));
  CHECK_FALSE(findGpu(""));
}
