#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/ahead.h"
#include "search/climb.h"
#include "search/moves.h"
#include "search/trials.h"

namespace svod {

namespace {

/// How far changes go, and the least part of them that are tried whatever the cost model says.
struct Reach {
  int changes;
  double unranked;
};
constexpr Reach kNear{2, 0}, kFar{4, 0.35};
constexpr double kMostUnranked = 0.25;  // of them, where the cost model is no guide at all

class Search {
 public:
  Search(Graph& graph, UOp sink, const Caps& caps, Measure& measure, const SearchOptions& options, KnownTrials known,
         const Recorder& record)
      : moves_(graph, sink, caps, options.threads), measure_(measure), options_(options),
        trials_(measure, options, std::move(known), record, result_) {}

  Result<SearchResult> run(const std::vector<std::vector<OptOp>>& hints) {
    const std::vector<Candidate> start = startOf(moves_, options_, hints);
    baseline_ = start.empty() ? "" : start[0].text;
    SVOD_CHECK(trials_.evaluate(start));
    if (options_.beam > 0) {
      Climb climb(moves_, start.back(), static_cast<size_t>(options_.beam), climbRules());
      SVOD_CHECK(climbOn(climb));
    } else {
      SVOD_CHECK(explore());
    }
    result_.isCut = measure_.isOver();
    SVOD_CHECK(finish());
    return std::move(result_);
  }

 private:
  ClimbRules climbRules() {
    return {[this](const Candidate& c) { return trials_.timeOf(c); },
            [this](const Candidate& c) { return isHopeful(c); }, options_.leastGain};
  }

  /// Tries so many lists of a step, and goes on to the next one where those were the last.
  Status climbSome(Climb& climb, size_t count) {
    SVOD_CHECK(trials_.evaluate(climb.take(count)));
    if (climb.left() == 0) climb.goOn(), ++result_.rounds;
    return {};
  }
  Status climbOn(Climb& climb) {
    while (!climb.isOver() && !measure_.isOver()) SVOD_CHECK(climbSome(climb, climb.left()));
    return {};
  }

  /// Changes of the best lists, and a climb from no opts beside it; then changes of others, which may lead elsewhere,
  /// as long as one of these ways gains something.
  Status explore() {
    std::mt19937_64 random(options_.seed);
    SVOD_CHECK(beginClimb());
    SVOD_CHECK(evolve(trials_.timed(), options_.patience, kNear, random));
    double best = trials_.bestTime();
    for (int idle = 0; idle < options_.restarts && trials_.timed().size() > 0 && !measure_.isOver();
         ++result_.restarts) {
      const bool climbs = !climb_.isOver();
      SVOD_CHECK(climbOn(climb_));
      SVOD_CHECK(evolve(climbs ? trials_.timed() : trials_.timed().some(options_.parents, random),
                        options_.patience / 2, kFar, random));
      const bool hasGained = trials_.bestTime() < best * (1 - options_.leastGain);
      if (hasGained) SVOD_CHECK(evolve(trials_.timed(), options_.patience / 2, kNear, random));
      idle = hasGained ? 0 : idle + 1;
      best = std::min(best, trials_.bestTime());
    }
    return {};
  }

  Status beginClimb() {
    const std::optional<Candidate> plain = moves_.candidate({}, "no opts");
    if (!plain || plain->predicted >= options_.climbBelow) return {};
    SVOD_CHECK(trials_.evaluate({&*plain, 1}));
    ClimbRules rules = climbRules();
    rules.rankOf = [this](const Candidate& c) { return rankOf(c); };
    rules.most = options_.climbStep;
    climb_ = Climb(moves_, *plain, static_cast<size_t>(options_.climbers), std::move(rules));
    return {};
  }

  /// Half as many as there are of changes.
  Status climbBeside() {
    return climb_.isOver() ? Status() : climbSome(climb_, std::max<size_t>(1, options_.survivors / 2));
  }

  /// The same number of lists that have one opt more than the fastest one, as long as there are any.
  Status addBeside() {
    constexpr double kMuch = 0.95;  // of a time, at which it is begun anew with the fastest one
    if (trials_.bestTime() < addedTo_ * (added_.empty() ? 1 : kMuch)) {
      addedTo_ = trials_.bestTime();
      added_ = moves_.additions(trials_.timed().fastest(1)[0].candidate);
      std::erase_if(added_, [&](const Candidate& c) { return !isHopeful(c) || trials_.isSeen(c.text); });
      std::ranges::stable_sort(added_, std::greater<>(), [&](const Candidate& c) { return rankOf(c); });
    }
    std::vector<Candidate> next;
    for (; !added_.empty() && 2 * next.size() < options_.survivors; added_.pop_back())
      next.push_back(std::move(added_.back()));
    return trials_.evaluate(next);
  }

  /// Changes of the best lists of `population`, which grows, until that gains nothing for so many rounds.
  Status evolve(Population population, int patience, const Reach& reach, std::mt19937_64& random) {
    trials_.watch(&population);
    double best = population.bestTime();
    for (int idle = 0; idle < patience && population.size() > 0 && !measure_.isOver(); ++result_.rounds) {
      SVOD_CHECK(trials_.evaluate(survivors(population.best(options_.parents), reach, random)));
      SVOD_CHECK(addBeside());
      SVOD_CHECK(climbBeside());
      const bool hasGained = population.bestTime() < best * (1 - options_.leastGain);
      idle = hasGained ? 0 : idle + 1;
      best = std::min(best, population.bestTime());
    }
    trials_.watch(nullptr);
    return {};
  }

  /// Whether it is worth a compiler's time.
  bool isHopeful(const Candidate& c) {
    if (c.predicted > 0) leastPredicted_ = std::min(leastPredicted_, c.predicted);
    return c.instructions <= options_.mostInstructions && c.predicted <= options_.mostOfLeast * leastPredicted_;
  }

  std::vector<Candidate> survivors(const std::vector<Candidate>& parents, const Reach& reach, std::mt19937_64& random) {
    std::vector<Candidate> made;
    for (size_t i = 0; i < options_.mutants; ++i) {
      std::optional<Candidate> mutant = moves_.mutant(parents, random, reach.changes);
      if (mutant && isHopeful(*mutant) && !trials_.isSeen(mutant->text) &&
          std::ranges::find(made, mutant->text, &Candidate::text) == made.end())
        made.push_back(std::move(*mutant));
    }
    trials_.fit();
    std::ranges::stable_sort(made, {}, [&](const Candidate& c) { return rankOf(c); });
    const size_t count = std::min(made.size(), options_.survivors);
    const double unranked = std::max(reach.unranked, kMostUnranked * (1 - std::max(0.0, agreement())));
    const auto ranked = static_cast<size_t>(static_cast<double>(count) * (1 - unranked));
    if (ranked < count) std::shuffle(made.begin() + static_cast<int64_t>(ranked), made.end(), random);
    made.resize(count);
    return made;
  }

  /// How well what is expected ranks the fastest ones: 1 as their times do, 0 at random.
  double agreement() const {
    constexpr size_t kCompared = 64;
    std::vector<double> wanted, measured;
    for (const Timed& timed : trials_.timed().fastest(kCompared)) {
      wanted.push_back(trials_.expected(timed.candidate));
      measured.push_back(timed.nanoseconds);
    }
    return rankAgreement(wanted, measured);
  }

  /// Of two that are expected to take the same the smaller one goes first: it costs the compiler less.
  double rankOf(const Candidate& c) const {
    return trials_.expected(c) * std::pow(std::max(c.instructions, 1.0), 0.08);
  }
  /// The best ones against -O1: the least ratio wins.
  Status finish() {
    result_.baseline = trials_.measured(baseline_);
    for (const Timed& timed : trials_.timed().fastest(options_.finalists)) {
      if (result_.baseline > 0 && timed.nanoseconds >= result_.baseline) break;  // those behind it are no faster
      SVOD_TRY(const TrialResult verdict, trials_.compared(timed.candidate));
      if (verdict.outcome != Outcome::Wins) continue;
      if (!result_.winner || verdict.ratio < result_.verdict.ratio)
        result_.winner = timed.candidate, result_.verdict = verdict;
    }
    return {};
  }

  SearchResult result_;
  Moves moves_;
  Measure& measure_;
  const SearchOptions& options_;
  Trials trials_;
  Climb climb_ = {};              // that goes on beside changes
  std::vector<Candidate> added_;  // lists with one opt more than the fastest that are left, the best expected one last
  double addedTo_ = std::numeric_limits<double>::max();  // nanoseconds of that one
  std::string baseline_;
  double leastPredicted_ = std::numeric_limits<double>::max();
};

}  // namespace

Result<SearchResult> search(Graph& graph, UOp sink, const Caps& caps, Measure& measure, const SearchOptions& options,
                            KnownTrials known, const std::vector<std::vector<OptOp>>& hints, const Recorder& record) {
  return Search(graph, sink, caps, measure, options, std::move(known), record).run(hints);
}

}  // namespace svod
