// Which random graphs a test program draws, and which part of a test split into shards is this process's.
#pragma once
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

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

/// Calls body(seed) for the first `count` seeds and for `others` (above them), as far as they are in this
/// shard. SVOD_RANDOM_FIRST and SVOD_RANDOM_COUNT choose a range instead. body returns what is wrong, "" when
/// nothing is. A failure says how to repeat it; after a few the test ends.
template <class Body>
void forSeeds(uint64_t count, std::initializer_list<uint64_t> others, Body body) {
  constexpr size_t kMostFailures = 3;
  uint64_t first = numberFromEnvironment("SVOD_RANDOM_FIRST", 0);
  bool chosen = first > 0;
  std::vector<uint64_t> seeds(chosen ? std::vector<uint64_t>() : others);
  count = numberFromEnvironment("SVOD_RANDOM_COUNT", count);
  for (uint64_t i = 0; i < count; ++i) seeds.push_back((chosen ? first : 1) + i);
  size_t failures = 0;
  for (size_t i = 0; i < seeds.size() && failures < kMostFailures; ++i) {
    if (!isInShard(i)) continue;
    std::string words = body(seeds[i]);
    CHECK(words == "");
    if (words.empty()) continue;
    ++failures;
    WARN("seed " << seeds[i] << " of \"" << Catch::getResultCapture().getCurrentTestName()
                 << "\"; repeat it with SVOD_RANDOM_FIRST=" << seeds[i] << " SVOD_RANDOM_COUNT=1");
  }
}

}  // namespace svod
