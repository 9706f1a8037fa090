#include "measure/timing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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
constexpr double kNoWorse = 1.02;    // of the time of the usual one, that a candidate may take with pages of one size
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
double ratioOf(const Portion& candidate, const Portion& usual, int64_t runs, double nanoseconds, size_t number) {
  if (number % 2 == 1) {
    const double other = sampleOf(usual, runs, nanoseconds);
    return sampleOf(candidate, runs, nanoseconds) / other;
  }
  const double own = sampleOf(candidate, runs, nanoseconds);
  return own / sampleOf(usual, runs, nanoseconds);
}

/// Of sites with huge pages and with small ones: what programs will have nobody knows, and either counts the same.
class Samples {
 public:
  void add(Pages pages, double value) { of_[static_cast<size_t>(pages)].push_back(value), ++count_; }
  size_t count() const { return count_; }
  /// The value below which `part` of them lie: the geometric mean of both sizes of pages, or that of the only one.
  double at(double part) const {
    const double huge = with(Pages::Huge, part), small = with(Pages::Small, part);
    return huge > 0 && small > 0 ? std::sqrt(huge * small) : std::max(huge, small);
  }
  double with(Pages pages, double part) const {
    const auto& samples = of_[static_cast<size_t>(pages)];
    return samples.empty() ? 0 : quantile(samples, part);
  }
  double spread() const {
    double most = 0;
    for (const auto& samples : of_)
      if (!samples.empty()) most = std::max(most, spreadOf(samples));
    return most;
  }

 private:
  std::array<std::vector<double>, 2> of_;
  size_t count_ = 0;
};

/// With which pages it is slower than the usual one, if it is.
std::string worseWith(const Samples& ratios) {
  for (const auto& [pages, name] : {std::pair(Pages::Huge, "huge"), std::pair(Pages::Small, "small")})
    if (const double ratio = ratios.with(pages, 0.5); ratio > kNoWorse)
      return "in memory of " + std::string(name) + " pages it takes " + std::to_string(std::lround(100 * ratio)) +
             " % of the time of -O1";
  return "";
}

/// How many sites there are before one has pages like another's.
size_t kindsOf(std::span<const Site> sites) {
  return sites.size() > 1 && sites[0].candidate->pages() != sites[1].candidate->pages() ? 2 : 1;
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

TrialResult timesOf(std::span<const Site> sites, double firstNs, double stopAbove, double usualNs) {
  const Loaded& loaded = *sites[0].candidate;
  const double first = portionOf(loaded, firstNs).nanosecondsOf(1);
  if (stopAbove > 0 && first > stopAbove) return {Outcome::Slow, "", first, 0, 0, 1};
  const int64_t runs = runsOfSample(first, loaded.conditions());
  if (runs < kManyRuns) sites = sites.first(kindsOf(sites));
  const Portion own = portionOf(loaded, first);
  const double sample =
      first * static_cast<double>(own.tiles) / static_cast<double>(std::max<int64_t>(loaded.tiles(), 1));
  Samples samples;
  const auto next = [&]() -> const Site& { return sites[samples.count() % sites.size()]; };
  const auto done = [&](double unit) -> TrialResult {
    return {Outcome::Timed,   "", unit * samples.at(0.5),
            samples.spread(), 0,  runs * static_cast<int64_t>(samples.count())};
  };
  const auto takeOwn = [&] {
    const Loaded& at = *next().candidate;
    samples.add(at.pages(), sampleOf({at, own.tiles}, runs, first));
  };
  while (samples.count() < 2) takeOwn();
  if (stopAbove > 0 && samples.at(0) > kFar * stopAbove) return done(1);
  if (sites[0].usual == nullptr) {
    while (samples.count() < fewerWhereLong(7, sample)) takeOwn();
    return done(1);
  }
  samples = {};
  const int64_t others = portionOf(*sites[0].usual, usualNs).tiles;
  while (samples.count() < fewerWhereLong(5, sample)) {
    const Site& site = next();
    samples.add(site.candidate->pages(), ratioOf({*site.candidate, own.tiles}, {*site.usual, others}, runs, first,
                                                 samples.count() / kindsOf(sites)));
  }
  return done(usualNs);
}

TrialResult comparisonOf(std::span<const Site> sites, double usualNs) {
  const Loaded &candidate = *sites[0].candidate, &usual = *sites[0].usual;
  constexpr double kGain = 0.98;
  const double longer = std::max(candidate.nanosecondsOf(1), usual.nanosecondsOf(1));
  const int64_t runs = runsOfSample(longer, candidate.conditions());
  const size_t kinds = kindsOf(sites);
  SequentialTest test(kGain);
  Samples samples;
  while (!test.isOver()) {
    double product = 1;
    for (size_t kind = 0; kind < kinds; ++kind) {  // each one first once in every place
      const Site& site = sites[(test.pairs() / 2 * kinds + kind) % sites.size()];
      const double ratio = ratioOf({*site.candidate, candidate.tiles()}, {*site.usual, usual.tiles()}, runs, longer,
                                   test.pairs() + kind);
      samples.add(site.candidate->pages(), ratio);
      product *= ratio;
    }
    test.add(kinds == 2 ? std::sqrt(product) : product);
  }
  TrialResult result{
      test.wins() ? Outcome::Wins : Outcome::Loses, "", usualNs * test.ratio(), test.noise(), test.ratio(),
      runs * static_cast<int64_t>(samples.count())};
  if (std::string worse = worseWith(samples); test.wins() && !worse.empty())
    result.outcome = Outcome::Loses, result.reason = std::move(worse);
  return result;
}

}  // namespace svod
