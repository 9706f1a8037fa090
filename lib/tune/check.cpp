#include "tune/check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "driver/tuned_plan.h"
#include "tune/decisions.h"
#include "tune/verdicts.h"

namespace svod {

namespace {

constexpr int kRounds = 6;             // until the winners of all kernels stay
constexpr double kSeconds = 20;        // of runs, at most, for a graph and a round
constexpr double kLeastSeconds = 0.5;  // of runs of the whole plan, whose gain is said at the end

Asked askedWith(const std::optional<PlanWinner>& decided, Asked asked) {
  if (!decided) return asked;
  for (const std::string& line : decided->decisions)
    if (const Result<Decision> decision = parseDecision(line)) asked.emplace(decision->name, decision->value());
  return asked;
}

/// Whether something else is asked for than some of them, so that they did not run.
bool isAskedFor(const PlanWinner& decided, const Asked& base) {
  return std::ranges::any_of(decided.decisions, [&](const std::string& line) {
    const Result<Decision> decision = parseDecision(line);
    return decision && base.contains(decision->name);
  });
}

/// Of kernels that a plan has, each once; the one that gained most first.
std::vector<InPlan> byGain(const std::vector<InPlan>& winners, const KernelsInPlan& times) {
  std::map<std::string, double> gained;
  std::vector<InPlan> all;
  for (const InPlan& winner : winners) {
    const auto found = times.kernels.find(winner.name);
    if (gained.emplace(winner.hash, 0).second) all.push_back(winner);
    gained[winner.hash] += found == times.kernels.end() ? 0 : found->second.gained;
  }
  std::ranges::stable_sort(all, std::greater(), [&](const InPlan& winner) { return gained[winner.hash]; });
  return all;
}

TuningLog without(const TuningLog& log, const std::set<std::string>& kernels) {
  TuningLog rest = log;
  std::erase_if(rest.candidates, [&](const CandidateRecord& r) { return kernels.contains(r.kernel); });
  return rest;
}

/// The same code in the same order, whose times differ by noise alone.
bool isSamePlan(const BuiltGraph& a, const BuiltGraph& b) { return a.compilation->plan == b.compilation->plan; }

class PlanCheck {
 public:
  PlanCheck(const TuneGraph& graph, TuningLog& log, LogAppender& appender, const TuneSettings& settings)
      : graph_(graph), log_(log), settings_(settings), base_(askedOf(graph)),
        verdicts_(log, appender, settings.place, graph.name) {
    checked_.name = graph.name;
  }

  Result<CheckedGraph> run() {
    SVOD_TRY(std::optional<KernelsInPlan> times, dropSlower());
    if (!checked_.problem.empty()) return std::move(checked_);
    const auto [decided, tuned] = withWinners(log_);
    const Result<BuiltGraph> baseline = built(base_, TuningLog());
    if (!tuned || !baseline) checked_.problem = (!tuned ? tuned.error() : baseline.error())->message;
    if (!checked_.problem.empty()) return std::move(checked_);
    if (isSamePlan(*tuned, *baseline)) times = KernelsInPlan();
    if (!times) times = timed(*tuned, *baseline, std::max(kLeastSeconds, secondsLeft() / 2));
    if (times->problem.empty() && times->whole.isSlower) {
      SVOD_TRY(times, guard(decided, winnersIn(*tuned->compilation), *times, *baseline));
    }
    checked_.problem = times->problem, checked_.warm = times->whole.warm, checked_.cold = times->whole.cold;
    if (checked_.problem.empty()) SVOD_CHECK(recordGain(*times));
    return std::move(checked_);
  }

 private:
  double secondsLeft() const { return secondsBetween(TuneClock::now(), settings_.deadline); }

  PlanPair pairOf(const BuiltGraph& tuned, const BuiltGraph& other) const {
    return {tuned.model,
            other.model,
            *tuned.compilation,
            *other.compilation,
            tuned.options.numerics,
            settings_.options.measure.compile.variablesAt};
  }
  KernelsInPlan timed(const BuiltGraph& tuned, const BuiltGraph& other, double seconds) const {
    return timeKernelsInPlans(pairOf(tuned, other), std::min(kSeconds, seconds));
  }
  Result<BuiltGraph> built(const Asked& asked, const TuningLog& log) { return buildTuned(graph_, asked, log); }

  /// Winners that are not faster in the plan lose, until all stay: then the times of the whole plan beside that of -O1
  /// are the result. Half of the time is for what follows.
  Result<std::optional<KernelsInPlan>> dropSlower() {
    const double forWhole = secondsLeft() / 2;
    size_t lost = 0;  // in the last round
    for (int round = 0; round < kRounds && secondsLeft() > forWhole; ++round) {
      const auto [decided, tuned] = withWinners(log_);
      const Result<BuiltGraph> plain = built(askedWith(decided, base_), TuningLog());
      if (!tuned || !plain) {
        checked_.problem = (!tuned ? tuned.error() : plain.error())->message;
        break;
      }
      const std::vector<InPlan> winners = winnersIn(*tuned->compilation);
      if (winners.empty() && !decided) return std::nullopt;
      KernelsInPlan times = timed(*tuned, *plain, secondsLeft() - forWhole);
      checked_.problem = times.problem;
      if (!checked_.problem.empty()) break;
      SVOD_TRY(lost, verdicts_.record(winners, times));
      checked_.checked = winners.size(), checked_.dropped += lost;
      if (lost == 0 && decided) {
        SVOD_TRY(lost, dropDecisions(*decided, *tuned, times));
      }
      if (lost == 0 || !checked_.problem.empty()) return times;
    }
    if (lost == 0) return std::nullopt;
    SVOD_TRY(const size_t rest, verdicts_.dropRest());
    checked_.dropped += rest;
    return std::nullopt;
  }

  /// Where the whole plan is not faster with them; how many. `times` become those of the whole plan beside that of -O1.
  Result<size_t> dropDecisions(const PlanWinner& decided, const BuiltGraph& tuned, KernelsInPlan& times) {
    const Result<BuiltGraph> baseline = built(base_, TuningLog());
    if (!baseline) return 0;  // run() says why
    times = timed(tuned, *baseline, std::max(kLeastSeconds, secondsLeft() / 2));
    checked_.problem = times.problem;
    if (!times.problem.empty() || !times.isNoFaster || isAskedFor(decided, base_)) return 0;
    ++checked_.dropped;
    SVOD_CHECK(verdicts_.dropDecisions(decided, times.whole));
    return 1;
  }

  /// The plan that a compile makes with the log: with the first decisions that the graph has, and what is asked for,
  /// which wins.
  std::pair<std::optional<PlanWinner>, Result<BuiltGraph>> withWinners(const TuningLog& log) {
    for (PlanWinner& winner :
         planWinnersOf(log, graphHash(graph_.usual.model), settings_.place.target, settings_.place.compiler)) {
      Result<BuiltGraph> tuned = built(askedWith(winner, base_), log);
      if (tuned || tuned.error()->diag != Diag::Usage) return {std::move(winner), std::move(tuned)};
    }
    return {std::nullopt, built(base_, log)};
  }

  /// Answers what guardPlan() asks.
  class Guarded : public GuardMeasure {
   public:
    Guarded(PlanCheck& check, const Asked& asked, const std::vector<InPlan>& winners, const BuiltGraph& baseline)
        : check_(check), asked_(asked), winners_(winners), baseline_(baseline) {}

    WholeTimes with(const std::vector<size_t>& numbers) override {
      std::set<std::string> others;
      for (const InPlan& winner : winners_) others.insert(winner.hash);
      for (size_t i : numbers) others.erase(winners_[i].hash);
      const Result<BuiltGraph> tuned = check_.built(asked_, without(check_.log_, others));
      if (!tuned) return {1, 1, true};
      if (isSamePlan(*tuned, baseline_)) {
        last = KernelsInPlan();
        return last->whole;
      }
      const double seconds = std::max(kLeastSeconds, check_.secondsLeft() / 4);
      KernelsInPlan times = timeWholePlans(check_.pairOf(*tuned, baseline_), std::min(kSeconds, seconds));
      if (!times.problem.empty()) return {1, 1, true};
      if (!times.whole.isSlower) last = times;
      return times.whole;
    }
    bool isOver() override { return check_.secondsLeft() <= 0; }

    std::optional<KernelsInPlan> last = {};  // of a plan that was not slower

   private:
    PlanCheck& check_;
    const Asked& asked_;
    const std::vector<InPlan>& winners_;
    const BuiltGraph& baseline_;
  };

  /// The whole plan is slower than the baseline: kernels go back to -O1 until it is not. Its times then.
  Result<KernelsInPlan> guard(const std::optional<PlanWinner>& decided, const std::vector<InPlan>& inPlan,
                              const KernelsInPlan& times, const BuiltGraph& baseline) {
    const std::vector<InPlan> winners = byGain(inPlan, times);
    const Asked asked = askedWith(decided, base_);
    Guarded measure(*this, asked, winners, baseline);
    const GuardResult result = guardPlan(winners.size(), measure);
    for (const GuardResult::Drop& drop : result.dropped)
      SVOD_CHECK(verdicts_.dropKernel(winners[drop.winner], drop.times));
    checked_.dropped += result.dropped.size();
    if (measure.last || !decided) {
      KernelsInPlan left = measure.last.value_or(KernelsInPlan());
      if (left.otherNs == 0) left.otherNs = times.otherNs;  // it is the baseline, which was timed before
      return left;
    }
    const Result<BuiltGraph> alone = built(asked, log_);  // decisions, and no winners
    return alone ? timed(*alone, baseline, kLeastSeconds) : times;
  }

  /// Where anything won, be it decisions that the graph does not have.
  Status recordGain(const KernelsInPlan& times) {
    const auto [decided, tuned] = withWinners(log_);
    const TunePlace& here = settings_.place;
    if (!tuned) return {};
    if (!decided && winnersIn(*tuned->compilation).empty() &&
        planWinnersOf(log_, graphHash(graph_.usual.model), here.target, here.compiler).empty())
      return {};
    checked_.untold = verdicts_.untold(winnersIn(*tuned->compilation));
    return verdicts_.recordGain(*tuned, base_, decided, times);
  }

  const TuneGraph& graph_;
  TuningLog& log_;
  const TuneSettings& settings_;
  const Asked base_;  // what a user asked for
  PlanVerdicts verdicts_;
  CheckedGraph checked_;
};

}  // namespace

Result<std::vector<CheckedGraph>> checkInPlans(const std::deque<TuneGraph>& graphs, TuningLog& log,
                                               LogAppender& appender, const TuneSettings& settings) {
  std::vector<CheckedGraph> all;
  for (const TuneGraph& graph : graphs) {
    if (!graph.usual.options.devices.empty() || graph.usual.compilation->kernels.empty()) continue;
    SVOD_TRY(CheckedGraph checked, PlanCheck(graph, log, appender, settings).run());
    all.push_back(std::move(checked));
  }
  SVOD_CHECK(appender.flush());
  return all;
}

}  // namespace svod
