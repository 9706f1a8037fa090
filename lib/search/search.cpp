#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "search/ahead.h"
#include "search/climb.h"
#include "search/herd.h"
#include "search/moves.h"

namespace svod {

namespace {

constexpr const char* kThisKernel = "";  // among those of the correction

using Recorder = std::function<Status(const Candidate&, const TrialResult&)>;

/// How far changes go, and the least part of them that are tried whatever the cost model says.
struct Reach {
  int changes;
  double unranked;
};
constexpr Reach kNear{2, 0}, kFar{4, 0.35};
constexpr double kMostUnranked = 0.25;  // of them, where the cost model is no guide at all

bool isTimed(const TrialResult& v) {
  return v.nanoseconds > 0 &&
         (v.outcome == Outcome::Timed || v.outcome == Outcome::Wins || v.outcome == Outcome::Loses);
}

class Search {
 public:
  Search(Graph& graph, UOp sink, const Caps& caps, Measure& measure, const SearchOptions& options, KnownTrials known,
         const Recorder& record)
      : moves_(graph, sink, caps, options.threads), measure_(measure), options_(options), known_(std::move(known)),
        correction_(options.neighbours.correction), record_(record) {}

  Result<SearchResult> run(const std::vector<std::vector<OptOp>>& hints) {
    const std::vector<Candidate> start = startOf(moves_, options_, hints);
    usual_ = start.empty() ? "" : start[0].text;
    SVOD_CHECK(evaluate(start));
    if (options_.beam > 0) {
      Climb climb = climbFrom(start.back(), options_.beam);
      SVOD_CHECK(climbOn(climb));
    } else {
      SVOD_CHECK(explore());
    }
    SVOD_CHECK(finish());
    return std::move(result_);
  }

 private:
  Climb climbFrom(const Candidate& from, int width) {
    return Climb(moves_, from, static_cast<size_t>(width),
                 {[this](const Candidate& c) { return timeOf(c); }, [this](const Candidate& c) { return isHopeful(c); },
                  options_.leastGain});
  }

  /// Tries so many lists of a step, and goes on to the next one where those were the last.
  Status climbSome(Climb& climb, size_t count) {
    SVOD_CHECK(evaluate(climb.take(count)));
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
    SVOD_CHECK(evolve(timed_, options_.patience, kNear, random));
    double best = bestTime();
    for (int idle = 0; idle < options_.restarts && timed_.size() > 0 && !measure_.isOver(); ++result_.restarts) {
      const bool climbs = !climb_.isOver();
      SVOD_CHECK(climbOn(climb_));
      SVOD_CHECK(evolve(climbs ? timed_ : timed_.some(options_.parents, random), options_.patience / 2, kFar, random));
      const bool hasGained = bestTime() < best * (1 - options_.leastGain);
      if (hasGained) SVOD_CHECK(evolve(timed_, options_.patience / 2, kNear, random));
      idle = hasGained ? 0 : idle + 1;
      best = std::min(best, bestTime());
    }
    return {};
  }

  Status beginClimb() {
    const std::optional<Candidate> plain = moves_.candidate({}, "no opts");
    if (!plain || plain->predicted >= options_.climbBelow) return {};
    SVOD_CHECK(evaluate({&*plain, 1}));
    climb_ = climbFrom(*plain, options_.climbers);
    return {};
  }

  /// Half as many as there are of changes, fewer where a step has very many.
  Status climbBeside() {
    constexpr size_t kFew = 64;
    if (climb_.isOver()) return {};
    const size_t size = std::max<size_t>(climb_.size(), 1),
                 share = options_.survivors * std::min(kFew, size) / (2 * size);
    return climbSome(climb_, std::max<size_t>(1, share));
  }

  /// The same number of lists that have one opt more than the fastest one, as long as there are any.
  Status addBeside() {
    constexpr double kMuch = 0.95;  // of a time, at which it is begun anew with the fastest one
    if (bestTime() < addedTo_ * (added_.empty() ? 1 : kMuch)) {
      addedTo_ = bestTime();
      added_ = moves_.additions(timed_.fastest(1)[0].candidate);
      std::erase_if(added_, [&](const Candidate& c) { return !isHopeful(c) || seen_.contains(c.text); });
      std::ranges::stable_sort(added_, std::greater<>(), [&](const Candidate& c) { return rankOf(c); });
    }
    std::vector<Candidate> next;
    for (; !added_.empty() && 2 * next.size() < options_.survivors; added_.pop_back())
      next.push_back(std::move(added_.back()));
    return evaluate(next);
  }

  /// Changes of the best lists of `herd`, which grows, until that gains nothing for so many rounds.
  Status evolve(Herd herd, int patience, const Reach& reach, std::mt19937_64& random) {
    herd_ = &herd;
    double best = herd.bestTime();
    for (int idle = 0; idle < patience && herd.size() > 0 && !measure_.isOver(); ++result_.rounds) {
      SVOD_CHECK(evaluate(survivors(herd.best(options_.parents), reach, random)));
      SVOD_CHECK(addBeside());
      SVOD_CHECK(climbBeside());
      const bool hasGained = herd.bestTime() < best * (1 - options_.leastGain);
      idle = hasGained ? 0 : idle + 1;
      best = std::min(best, herd.bestTime());
    }
    herd_ = nullptr;
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
      if (mutant && isHopeful(*mutant) && !seen_.contains(mutant->text) &&
          std::ranges::find(made, mutant->text, &Candidate::text) == made.end())
        made.push_back(std::move(*mutant));
    }
    if (options_.corrects) correction_.fit();
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
    for (const Timed& timed : timed_.fastest(kCompared)) {
      wanted.push_back(expected(timed.candidate));
      measured.push_back(timed.nanoseconds);
    }
    return rankAgreement(wanted, measured);
  }

  /// Gives each a verdict. What is known is not run again, and equal code is timed once.
  Status evaluate(std::span<const Candidate> candidates) {
    std::vector<Candidate> fresh;
    for (const Candidate& c : candidates) {
      if (!seen_.insert(c.text).second) continue;
      const auto found = known_.find(c.text);
      if (found == known_.end()) {
        fresh.push_back(c);
      } else {
        ++result_.known;
        note(c, found->second);
      }
    }
    for (size_t first = 0, count = 0; first < fresh.size() && !measure_.isOver(); first += count) {
      count = std::min(batch_, fresh.size() - first);
      const std::span batch = std::span(fresh).subspan(first, count);
      batch_ = std::min<size_t>(2 * batch_, 32);
      const std::vector<Prepared> prepared = measure_.prepare(batch);
      for (size_t i = 0; i < batch.size() && !measure_.isOver(); ++i) SVOD_CHECK(run(batch[i], prepared[i]));
    }
    return {};
  }

  Status run(const Candidate& c, const Prepared& prepared) {
    TrialResult verdict = prepared.verdict;
    const auto twin = prepared.code.empty() ? byCode_.end() : byCode_.find(prepared.code);
    if (verdict.outcome == Outcome::Timed && twin != byCode_.end()) {
      ++result_.sameCode;
      verdict = twin->second;
    } else if (verdict.outcome == Outcome::Timed) {
      SVOD_CHECK(record_(c, {Outcome::Started}));
      verdict = measure_.time(c, options_.stopAbove * bestTime());
      byCode_[prepared.code] = verdict;
    }
    if (prepared.verdict.outcome == Outcome::Timed) prepared_.insert(c.text);
    ++result_.measured;
    ++result_.outcomes[verdict.outcome];
    note(c, verdict);
    return record_(c, verdict);
  }

  void note(const Candidate& c, const TrialResult& verdict) {
    known_[c.text] = verdict;
    if (!isTimed(verdict)) return;
    if (herd_ != nullptr) herd_->add(c, verdict.nanoseconds);
    if (timed_.add(c, verdict.nanoseconds)) correction_.add(kThisKernel, c, verdict.nanoseconds);
  }

  double timeOf(const Candidate& c) const {
    const auto found = known_.find(c.text);
    return found != known_.end() && isTimed(found->second) ? found->second.nanoseconds : 0;
  }
  double expected(const Candidate& c) const { return options_.corrects ? correction_.expected(c) : c.predicted; }
  /// Of two that are expected to take the same the smaller one goes first: it costs the compiler less.
  double rankOf(const Candidate& c) const { return expected(c) * std::pow(std::max(c.instructions, 1.0), 0.08); }
  double bestTime() const { return timed_.bestTime(); }

  /// The best ones against -O1: the least ratio wins.
  Status finish() {
    const auto usual = known_.find(usual_);
    if (usual != known_.end()) result_.usual = usual->second.nanoseconds;
    for (const Timed& timed : timed_.fastest(options_.finalists)) {
      const Candidate& c = timed.candidate;
      if (result_.usual > 0 && timed.nanoseconds >= result_.usual) break;  // those behind it are no faster
      TrialResult verdict = known_[c.text];
      if (verdict.outcome == Outcome::Timed) {
        if (!prepared_.contains(c.text)) {
          const Prepared again = measure_.prepare({&c, 1})[0];
          if (again.verdict.outcome != Outcome::Timed) continue;
        }
        verdict = measure_.compare(c);
        SVOD_CHECK(record_(c, verdict));
      }
      if (verdict.outcome != Outcome::Wins) continue;
      if (!result_.winner || verdict.ratio < result_.verdict.ratio) result_.winner = c, result_.verdict = verdict;
    }
    return {};
  }

  Moves moves_;
  Measure& measure_;
  const SearchOptions& options_;
  KnownTrials known_;
  Correction correction_;
  const Recorder& record_;
  Herd timed_;
  Herd* herd_ = nullptr;          // those that are changed now
  Climb climb_ = {};              // that goes on beside changes
  std::vector<Candidate> added_;  // lists with one opt more than the fastest that are left, the best expected one last
  double addedTo_ = std::numeric_limits<double>::max();  // nanoseconds of that one
  std::set<std::string> seen_, prepared_;
  std::map<std::string, TrialResult> byCode_;
  std::string usual_;
  double leastPredicted_ = std::numeric_limits<double>::max();
  size_t batch_ = 4;  // so many are compiled together: few at first, so that there is a result soon
  SearchResult result_;
};

}  // namespace

Result<SearchResult> search(Graph& graph, UOp sink, const Caps& caps, Measure& measure, const SearchOptions& options,
                            KnownTrials known, const std::vector<std::vector<OptOp>>& hints, const Recorder& record) {
  return Search(graph, sink, caps, measure, options, std::move(known), record).run(hints);
}

}  // namespace svod
