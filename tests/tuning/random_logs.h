// Records of tuning logs: random ones, and one as a test needs it.
#pragma once
#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <vector>

#include "tuning/log.h"

namespace svod {

inline std::string pick(std::mt19937& random, std::initializer_list<const char*> values) {
  return *(values.begin() + random() % values.size());
}

inline std::string hashOf(std::mt19937& random) { return std::string(31, 'a') + pick(random, {"0", "1", "2"}); }

inline PlanRecord randomPlan(std::mt19937& random) {
  PlanRecord r;
  r.graph = hashOf(random), r.target = "cpu arm contract", r.machine = "here",
  r.compiler = pick(random, {"one", "two"});
  r.decisions = {pick(random, {"keep:a=keep", "keep:a=fuse"}), "conv:c=direct"};
  r.origin = "every keep", r.outcome = static_cast<Outcome>(random() % allOutcomes().size());
  r.ratio = 0.01 + static_cast<double>(random() % 200) / 100;
  return r;
}

inline GainRecord randomGain(std::mt19937& random) {
  GainRecord r;
  r.graph = hashOf(random), r.target = "cpu arm contract", r.machine = "here";
  r.compiler = pick(random, {"one", "two"});
  if (random() % 4 == 0) r.asked = {"keep:b=keep"};
  if (random() % 4 == 0) r.decisions = {"keep:a=keep", "conv:c=direct"};
  if (random() % 4 == 0) r.passed = {{"keep:a=fuse"}, {"keep:a=keep", "conv:c=direct"}};
  for (uint32_t n = random() % 3; n > 0; --n)
    r.kernels[hashOf(random)] = random() % 3 == 0 ? std::nullopt : std::optional<std::string>("tile(n0,2)");
  r.baseline = 1000, r.warm = 0.5 + static_cast<double>(random() % 9) / 8, r.cold = 0.75;
  return r;
}

inline TuningRecord randomRecord(std::mt19937& random) {
  if (random() % 16 == 0) return GraphRecord{hashOf(random), pick(random, {"net", "other"})};
  if (random() % 16 == 0)
    return GraphRecord{hashOf(random),       "net", "cpu arm contract", pick(random, {"one", "two"}), {},
                       {{hashOf(random), 2}}};
  if (random() % 8 == 0) return randomGain(random);
  if (random() % 4 == 0) return randomPlan(random);
  if (random() % 8 == 0)
    return KernelRecord{hashOf(random), pick(random, {"matmul_1", "sum"}),
                        pick(random, {"%0 = param\n", "\"quoted\"\t\\"}), static_cast<int64_t>(random() % 3)};
  CandidateRecord r;
  r.kernel = hashOf(random);
  r.target = pick(random, {"cpu x86 znver4 contract", "cpu arm contract"});
  r.machine = pick(random, {"here", "there"});
  r.compiler = pick(random, {"", "one", "two"});
  r.opts = pick(random, {"", "vector(n0,8)", "upcast(n0,4) vector(n1,16)", "tile(n0,2)"});
  r.origin = pick(random, {"beam", "strategy"});
  r.outcome = static_cast<Outcome>(random() % allOutcomes().size());
  if (random() % 4 == 0) r.decisions = {"keep:a=keep"};
  if (random() % 4 == 0) r.reason = "signal 11 \xc3\xa9\n";
  r.nanoseconds = static_cast<double>(random() % 1000) / 7;
  r.ratio = 0.01 + static_cast<double>(random() % 200) / 100;
  r.runs = static_cast<int64_t>(random() % 9);
  if (random() % 4 != 0) r.ulp = static_cast<double>(random() % 5) / 4;
  r.number = static_cast<int64_t>(random() % 5);
  return r;
}

inline std::string randomLines(std::mt19937& random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += toLine(randomRecord(random)) + "\n";
  return text;
}

inline TuningLog parsed(std::string_view text) {
  UnreadLines unread;
  Result<TuningLog> log = parseTuningLog(text, unread);
  REQUIRE(log);
  return *log;
}

inline TuningLog merge(std::vector<TuningLog> logs) { return merged(logs); }

inline CandidateRecord candidate(std::string opts, Outcome outcome, double ratio, std::string compiler = "this") {
  CandidateRecord r;
  r.kernel = std::string(32, '0'), r.target = "t", r.machine = "m", r.compiler = std::move(compiler);
  r.opts = std::move(opts), r.origin = "test", r.outcome = outcome, r.ratio = ratio;
  return r;
}

}  // namespace svod
