// Which random graphs a test program draws, and which part of a test split into shards is this process's.
#pragma once
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace svod {

inline uint64_t numberFromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

/// Whether item `number` of a test is for this process: svod_test(.. SHARDS n) starts n processes, each with
/// its own SVOD_SHARD (0 to n - 1) of SVOD_SHARDS. Without these variables every item is.
inline bool isInShard(uint64_t number) {
  return number % numberFromEnvironment("SVOD_SHARDS", 1) == numberFromEnvironment("SVOD_SHARD", 0);
}

/// Calls body(seed) for `count` seeds, as far as they are in this shard. SVOD_RANDOM_FIRST and
/// SVOD_RANDOM_COUNT choose other seeds. A failure says how to repeat it; after a few the test ends.
template <class Body>
void forSeeds(uint64_t count, Body body) {
  constexpr size_t kMostFailures = 3;
  uint64_t first = numberFromEnvironment("SVOD_RANDOM_FIRST", 1),
           end = first + numberFromEnvironment("SVOD_RANDOM_COUNT", count);
  size_t failures = 0;
  for (uint64_t seed = first; seed < end && failures < kMostFailures; ++seed) {
    if (!isInShard(seed)) continue;
    std::string words = body(seed);
    CHECK(words == "");
    if (words.empty()) continue;
    ++failures;
    auto& context = Catch::getResultCapture();
    WARN("seed " << seed << " of \"" << context.getCurrentTestName()
                 << "\"; repeat it with SVOD_RANDOM_FIRST=" << seed << " SVOD_RANDOM_COUNT=1");
  }
}

}  // namespace svod
