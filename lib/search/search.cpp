#include "search/search.h"

#include <algorithm>
#include <limits>
#include <set>

#include "search/ahead.h"
#include "search/moves.h"

namespace svod {

namespace {

constexpr const char* kThisKernel = "";  // among those of the correction

using Recorder = std::function<Status(const Candidate&, const TrialResult&)>;

struct Timed {
  Candidate candidate;
  double nanoseconds;
};

/// How far changes go, and the part of them that are tried whatever the cost model says.
struct Reach {
  int changes;
  double unranked;
};
constexpr Reach kNear{2, 0}, kFar{4, 0.35};

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
      SVOD_CHECK(climb(start.back(), static_cast<size_t>(options_.beam)));
    } else {
      SVOD_CHECK(explore());
    }
    SVOD_CHECK(finish());
    return std::move(result_);
  }

 private:
  /// One opt more each time, for the best lists of the last step.
  Status climb(Candidate from, size_t width) {
    std::vector<Candidate> beam = {std::move(from)};
    double best = timeOf(beam[0]);
    while (!measure_.isOver()) {
      std::vector<Candidate> next;
      for (const Candidate& state : beam) std::ranges::move(moves_.successors(state), std::back_inserter(next));
      std::erase_if(next, [&](const Candidate& c) { return !isHopeful(c); });
      SVOD_CHECK(evaluate(next));
      ++result_.rounds;
      std::erase_if(next, [&](const Candidate& c) { return timeOf(c) == 0; });
      std::ranges::stable_sort(next, {}, [&](const Candidate& c) { return timeOf(c); });
      const auto repeated = std::ranges::unique(next, {}, &Candidate::text);
      next.erase(repeated.begin(), repeated.end());
      if (next.empty() || (best > 0 && timeOf(next[0]) > best * (1 - options_.leastGain))) break;
      best = timeOf(next[0]);
      next.resize(std::min(next.size(), width));
      beam = std::move(next);
    }
    return {};
  }

  /// Changes of the best lists; then of others, which may lead elsewhere, as long as one of these ways gains something.
  Status explore() {
    std::mt19937_64 random(options_.seed);
    SVOD_CHECK(evolve(timed_, options_.patience, kNear, random));
    double best = bestTime();
    const int first = result_.restarts;
    for (int idle = 0; idle < options_.restarts && !timed_.empty() && !measure_.isOver(); ++result_.restarts) {
      std::vector<Timed> herd;
      const std::optional<Candidate> plain = moves_.candidate({}, "no opts");
      if (result_.restarts == first && plain && plain->predicted < options_.climbBelow) {
        SVOD_CHECK(evaluate({*plain}));
        SVOD_CHECK(climb(*plain, static_cast<size_t>(options_.climbers)));
        herd = timed_;
      } else {
        herd = otherParents(random);
      }
      SVOD_CHECK(evolve(std::move(herd), options_.patience / 2, kFar, random));
      const bool hasGained = bestTime() < best * (1 - options_.leastGain);
      if (hasGained) SVOD_CHECK(evolve(timed_, options_.patience / 2, kNear, random));
      idle = hasGained ? 0 : idle + 1;
      best = std::min(best, bestTime());
    }
    return {};
  }

  /// Some of those that are not the best, and are no failures of their kind either.
  std::vector<Timed> otherParents(std::mt19937_64& random) const {
    constexpr size_t kReach = 16;
    std::vector<Timed> others(
        timed_.begin(), timed_.begin() + static_cast<int64_t>(std::min(timed_.size(), kReach * options_.parents)));
    std::ranges::shuffle(others, random);
    others.resize(std::min(others.size(), options_.parents));
    std::ranges::stable_sort(others, {}, &Timed::nanoseconds);
    return others;
  }

  /// Changes of the best lists of `herd`, which grows, until that gains nothing for so many rounds.
  Status evolve(std::vector<Timed> herd, int patience, const Reach& reach, std::mt19937_64& random) {
    herd_ = &herd;
    double best = herd.empty() ? 0 : herd[0].nanoseconds;
    for (int idle = 0; idle < patience && !herd.empty() && !measure_.isOver(); ++result_.rounds) {
      std::vector<Candidate> parents;
      for (size_t i = 0; i < std::min(options_.parents, herd.size()); ++i) parents.push_back(herd[i].candidate);
      SVOD_CHECK(evaluate(survivors(parents, reach, random)));
      const bool hasGained = herd[0].nanoseconds < best * (1 - options_.leastGain);
      idle = hasGained ? 0 : idle + 1;
      best = std::min(best, herd[0].nanoseconds);
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
    std::ranges::stable_sort(
        made, {}, [&](const Candidate& c) { return options_.corrects ? correction_.expected(c) : c.predicted; });
    const size_t count = std::min(made.size(), options_.survivors);
    const auto ranked = static_cast<size_t>(static_cast<double>(count) * (1 - reach.unranked));
    if (ranked < count) std::shuffle(made.begin() + static_cast<int64_t>(ranked), made.end(), random);
    made.resize(count);
    return made;
  }

  /// Gives each a verdict. What is known is not run again, and equal code is timed once.
  Status evaluate(const std::vector<Candidate>& candidates) {
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
    for (std::vector<Timed>* herd : {&timed_, herd_}) {
      if (herd == nullptr) continue;
      const auto place = std::ranges::upper_bound(*herd, verdict.nanoseconds, {}, &Timed::nanoseconds);
      herd->insert(place, {c, verdict.nanoseconds});
    }
    correction_.add(kThisKernel, c, verdict.nanoseconds);
  }

  double timeOf(const Candidate& c) const {
    const auto found = known_.find(c.text);
    return found != known_.end() && isTimed(found->second) ? found->second.nanoseconds : 0;
  }
  double bestTime() const { return timed_.empty() ? 0 : timed_[0].nanoseconds; }

  /// The best ones against -O1: the least ratio wins.
  Status finish() {
    const auto usual = known_.find(usual_);
    if (usual != known_.end()) result_.usual = usual->second.nanoseconds;
    size_t compared = 0;
    for (const Timed& timed : timed_) {
      if (compared++ == options_.finalists) break;
      const Candidate& c = timed.candidate;
      if (c.text == usual_) break;  // those behind it are no faster
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
  std::vector<Timed> timed_;            // fastest first
  std::vector<Timed>* herd_ = nullptr;  // those that are changed now; fastest first
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
