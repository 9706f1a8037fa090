// A machine whose answers follow from the list of opts, and searches on it.
#pragma once
#include <catch2/catch.hpp>
#include <set>

#include "search/search.h"

namespace svod {

/// Times are a function of the list; some lists crash, hang, are wrong or do not compile. Ends after `most` candidates.
class SimulatedMeasure : public Measure {
 public:
  explicit SimulatedMeasure(size_t most = SIZE_MAX) : most_(most) {}

  std::vector<Prepared> prepare(std::span<const Candidate> candidates) override {
    std::vector<Prepared> all;
    for (const Candidate& c : candidates) {
      const uint64_t h = hashOf(c);
      prepared.insert(c.text);
      if (h % 13 == 1)
        all.push_back({"", {Outcome::CompileFailed, "planted"}});
      else if (h % 13 == 2)
        all.push_back({"", {Outcome::TooLarge, "planted"}});
      else
        all.push_back({std::to_string(h % codes)});
    }
    return all;
  }
  TrialResult time(const Candidate& c, double stopAbove) override {
    CHECK(prepared.contains(c.text));
    timed.push_back(c.text);
    const uint64_t h = hashOf(c);
    if (timed.size() > untriedAfter) return {Outcome::Untried, "planted"};
    if (h % 17 == 0) return {Outcome::Crashed, "planted"};
    if (h % 17 == 1) return {Outcome::Hung, "planted"};
    if (h % 17 == 2) return {Outcome::Wrong, "planted"};
    const double t = timeOf(c);
    if (stopAbove > 0 && t > stopAbove) return {Outcome::Slow, "", t, 0, 0, 1};
    return {Outcome::Timed, "", t, 0.01, 0, 7};
  }
  TrialResult compare(const Candidate& c) override {
    CHECK(prepared.contains(c.text));
    const double ratio = timeOf(c) / baseline;
    return {ratio < 0.98 ? Outcome::Wins : Outcome::Loses, "", timeOf(c), 0.01, ratio, 20};
  }
  bool isOver() override { return timed.size() >= most_; }

  static uint64_t hashOf(const Candidate& c) {
    uint64_t h = 1469598103934665603u;
    for (char ch : c.text) h = (h ^ static_cast<unsigned char>(ch)) * 1099511628211u;
    return h ^ (h >> 31);
  }
  /// The cost model's time and noise.
  static double timeOf(const Candidate& c) {
    return c.predicted * (0.7 + 0.6 * static_cast<double>(hashOf(c) % 1000) / 1000);
  }

  double baseline = 1;
  size_t untriedAfter = SIZE_MAX;  // so many timed candidates the machine has no room
  uint64_t codes = 997;            // how many different ones there are
  std::set<std::string> prepared;
  std::vector<std::string> timed;

 private:
  size_t most_;
};

/// Rounds of a few changes.
inline SearchOptions small(int beam = 0) {
  SearchOptions options;
  options.mutants = 40, options.survivors = 10, options.patience = 5, options.beam = beam;
  return options;
}

}  // namespace svod
