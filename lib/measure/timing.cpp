#include "measure/timing.h"

#include <algorithm>
#include <cmath>

#include "measure/sequential_test.h"

namespace svod {

namespace {

constexpr double kSampleNs = 2e5;
constexpr double kEnoughNs = 2e6;    // a run that takes longer is cut to some of its tiles, but where two are compared,
constexpr int64_t kLeastTiles = 4;   // at least so many for each thread
constexpr int64_t kManyRuns = 4;     // of a sample, for which one that is not counted is not much
constexpr int64_t kTilesOfFew = 64;  // one of so many runs first
constexpr double kHopeless = 2;      // times what is too slow, in a first run, which brings the memory
constexpr double kCachesNs = 2e7;    // a run that takes longer does not gain by what caches hold when it begins
constexpr double kFar = 0.4;  // of what is too slow: a candidate there will not be the best one, whatever the noise

int64_t runsOfSample(double nanoseconds, const RunConditions& conditions) {
  if (conditions.coldCaches) return 1;
  return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(kSampleNs / std::max(nanoseconds, 1.0))), 1, 100000);
}

/// What a sample of it runs.
struct Portion {
  const Loaded& loaded;
  int64_t tiles;
  double nanosecondsOf(int64_t runs) const { return loaded.nanosecondsOf(runs, tiles); }
};

/// One sample, with caches as a run of its own leaves them: what ran before it, or was elsewhere, may have left less in
/// them. Stores that go past the caches take the results of the other one of a pair out of them.
double sampleOf(const Portion& portion, int64_t runs, double nanoseconds) {
  if (nanoseconds < kCachesNs && !portion.loaded.conditions().coldCaches) portion.loaded.run(portion.tiles);
  return portion.nanosecondsOf(runs);
}

/// One sample of each, in an order that changes with `number`.
double ratioOf(const Portion& candidate, const Portion& baseline, int64_t runs, double nanoseconds, size_t number) {
  if (number % 2 == 1) {
    const double other = sampleOf(baseline, runs, nanoseconds);
    return sampleOf(candidate, runs, nanoseconds) / other;
  }
  const double own = sampleOf(candidate, runs, nanoseconds);
  return own / sampleOf(baseline, runs, nanoseconds);
}

Portion portionOf(const Loaded& loaded, double nanoseconds) {
  const int64_t tiles = loaded.conditions().wholeGrids
                            ? loaded.tiles()
                            : svod::tilesOfSample(loaded.tiles(), nanoseconds, loaded.conditions().threads);
  return {loaded, tiles};
}

size_t fewerWhereLong(size_t samples, double nanoseconds) {
  return nanoseconds > 5e7 ? 2 : nanoseconds > 1e7 ? 3 : samples;
}

}  // namespace

int64_t tilesOfSample(int64_t tiles, double nanoseconds, int threads) {
  const auto enough = static_cast<int64_t>(std::ceil(static_cast<double>(tiles) * kEnoughNs / nanoseconds));
  return std::min(tiles, std::max(threads * kLeastTiles, enough));
}

TrialResult firstRunOf(const Loaded& loaded, double stopAbove) {
  const auto verdict = [&](double nanoseconds) -> TrialResult {
    const bool isHopeless = stopAbove > 0 && nanoseconds > std::max(kHopeless * stopAbove, kEnoughNs);
    return {isHopeless ? Outcome::Slow : Outcome::Timed, "", nanoseconds, 0, 0, 1};
  };
  const int64_t all = loaded.tiles(), few = std::max(loaded.conditions().threads * kLeastTiles, all / kTilesOfFew);
  if (stopAbove > 0 && !loaded.conditions().wholeGrids && few < all) {
    const TrialResult guess = verdict(loaded.runWatched(few));
    const double taken = guess.nanoseconds * static_cast<double>(few) / static_cast<double>(all);
    if (guess.outcome == Outcome::Slow && taken > kSampleNs) return guess;  // what is shorter is bringing the code
  }
  return verdict(loaded.runWatched());
}

TrialResult timesOf(std::span<const Site> sites, double firstNs, double stopAbove, double baselineNs) {
  const Loaded& loaded = *sites[0].candidate;
  const double first = portionOf(loaded, firstNs).nanosecondsOf(1);
  if (stopAbove > 0 && first > stopAbove) return {Outcome::Slow, "", first, 0, 0, 1};
  const int64_t runs = runsOfSample(first, loaded.conditions());
  if (runs < kManyRuns) sites = sites.first(1);
  const Portion own = portionOf(loaded, first);
  const double sample =
      first * static_cast<double>(own.tiles) / static_cast<double>(std::max<int64_t>(loaded.tiles(), 1));
  std::vector<double> samples;
  const auto next = [&]() -> const Site& { return sites[samples.size() % sites.size()]; };
  const auto done = [&](double unit) -> TrialResult {
    return {Outcome::Timed,    "", unit * quantile(samples, 0.5),
            spreadOf(samples), 0,  runs * static_cast<int64_t>(samples.size())};
  };
  while (samples.size() < 2) samples.push_back(sampleOf(own, runs, first));
  if (stopAbove > 0 && std::ranges::min(samples) > kFar * stopAbove) return done(1);
  if (sites[0].baseline == nullptr) {
    while (samples.size() < fewerWhereLong(7, sample))
      samples.push_back(sampleOf({*next().candidate, own.tiles}, runs, first));
    return done(1);
  }
  samples.clear();
  const int64_t others = portionOf(*sites[0].baseline, baselineNs).tiles;
  while (samples.size() < fewerWhereLong(5, sample)) {
    const Site& site = next();
    samples.push_back(ratioOf({*site.candidate, own.tiles}, {*site.baseline, others}, runs, first, samples.size()));
  }
  return done(baselineNs);
}

TrialResult comparisonOf(std::span<const Site> sites, double baselineNs) {
  const Loaded &candidate = *sites[0].candidate, &baseline = *sites[0].baseline;
  constexpr double kGain = 0.98;
  const double longer = std::max(candidate.nanosecondsOf(1), baseline.nanosecondsOf(1));
  const int64_t runs = runsOfSample(longer, candidate.conditions());
  SequentialTest test(kGain);
  while (!test.isOver()) {
    const Site& site = sites[test.pairs() / 2 % sites.size()];  // each one first once in every place
    test.add(
        ratioOf({*site.candidate, candidate.tiles()}, {*site.baseline, baseline.tiles()}, runs, longer, test.pairs()));
  }
  return {test.wins() ? Outcome::Wins : Outcome::Loses, "", baselineNs * test.ratio(), test.noise(), test.ratio(),
          runs * static_cast<int64_t>(test.pairs())};
}

}  // namespace svod
