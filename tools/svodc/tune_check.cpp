#include "tune_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "driver/tuned_opts.h"
#include "plans_in_turns.h"
#include "report/tuning_page.h"
#include "tune_plans.h"

namespace svod {

namespace {

constexpr int kRounds = 6;             // until the winners of all kernels stay
constexpr double kSeconds = 20;        // of runs, at most, for a graph and a round
constexpr double kLeastSeconds = 0.5;  // of runs of the whole plan, whose gain is said at the end
constexpr char kWhere[] = "in the plan";

std::string percent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * ratio);
  return text;
}

std::string timesIn(const std::string& graph, double warm, double cold) {
  return std::string(kWhere) + " " + graph + " it takes " + percent(warm) + " of -O1 with warm caches, " +
         percent(cold) + " with cold ones";
}

/// A kernel of a plan that has the opts of a winner.
struct InPlan {
  std::string name, hash, opts;
};

class PlanCheck {
 public:
  PlanCheck(const Request& request, Workplace& place, TuningLog& log, LogAppender& appender,
            const TuneSettings& settings)
      : request_(request), place_(place), log_(log), appender_(appender), settings_(settings) {}

  Result<CheckedGraph> of(const std::string& graph, const BuildResult& build) {
    CheckedGraph checked{graphName(graph), 1, 1, 0, 0, ""};
    const Asked base(build.options.decisions.values.begin(), build.options.decisions.values.end());
    SVOD_TRY(std::optional<KernelsInPlan> times, dropSlower(graph, build, base, checked));
    if (!checked.problem.empty()) return checked;
    const auto [decided, tuned] = withWinners(graph, build, base);
    if (!tuned) checked.problem = tuned.error()->message;
    if (!tuned || (!decided && winnersIn(*tuned).empty())) return checked;
    if (!times) times = timedWithUsual(*tuned, graph, base, std::max(kLeastSeconds, secondsLeft()));
    checked.problem = times->problem;
    if (!checked.problem.empty()) return checked;
    checked.warm = times->warm, checked.cold = times->cold;
    SVOD_CHECK(recordGain(*tuned, base, decided, *times));
    return checked;
  }

 private:
  double secondsLeft() const { return secondsBetween(TuneClock::now(), settings_.deadline); }

  KernelsInPlan timed(const BuildResult& tuned, const BuildResult& other, double seconds) const {
    return timeKernelsInPlans({tuned.model, other.model, *tuned.compilation, *other.compilation, tuned.options.numerics,
                               measureOptions(request_.flags).compile.variablesAt},
                              std::min(kSeconds, seconds));
  }
  KernelsInPlan timedWithUsual(const BuildResult& tuned, const std::string& graph, const Asked& base, double seconds) {
    KernelsInPlan none;
    const Result<BuildResult> usual = buildTuned(request_, place_, graph, base, TuningLog());
    if (usual) return timed(tuned, *usual, seconds);
    none.problem = usual.error()->message;
    return none;
  }

  /// Winners that are not faster in the plan lose, until all stay: then the times of the whole plan are the result.
  Result<std::optional<KernelsInPlan>> dropSlower(const std::string& graph, const BuildResult& build, const Asked& base,
                                                  CheckedGraph& checked) {
    const double forWhole = secondsLeft() / 4;
    size_t lost = 0;  // in the last round
    for (int round = 0; round < kRounds && secondsLeft() > forWhole; ++round) {
      const auto [decided, tuned] = withWinners(graph, build, base);
      const Result<BuildResult> plain = buildTuned(request_, place_, graph, askedWith(decided, base), TuningLog());
      if (!tuned || !plain) {
        checked.problem = (!tuned ? tuned.error() : plain.error())->message;
        break;
      }
      const std::vector<InPlan> winners = winnersIn(*tuned);
      if (winners.empty() && !decided) return std::nullopt;
      KernelsInPlan times = timed(*tuned, *plain, secondsLeft() - forWhole);
      if (times.problem.empty()) {
        SVOD_TRY(lost, record(winners, times, checked.name));
      }
      checked.checked = winners.size(), checked.dropped += lost;
      if (times.problem.empty() && lost == 0 && decided && !isAskedFor(*decided, base)) {
        times = timedWithUsual(*tuned, graph, base, secondsLeft());
        lost = times.problem.empty() && times.isSlower ? 1 : 0, checked.dropped += lost;
        if (lost > 0) SVOD_CHECK(dropDecisions(*decided, times, checked.name));
      }
      checked.problem = times.problem;
      if (!checked.problem.empty()) break;
      if (lost == 0) return times;
    }
    if (lost > 0) SVOD_CHECK(dropRest(checked));
    return std::nullopt;
  }

  Status recordGain(const BuildResult& tuned, const Asked& base, const std::optional<PlanWinner>& decided,
                    const KernelsInPlan& times) {
    const TunePlace& here = settings_.place;
    GainRecord r;
    r.graph = graphHash(tuned.model), r.target = here.target, r.machine = here.planMachine, r.compiler = here.compiler;
    r.asked = linesOf(base);
    if (decided) r.decisions = decided->decisions;
    for (const CompiledKernel& kernel : tuned.compilation->kernels) {
      const std::string hash = tuningHash(kernel);
      const std::vector<Winner> winners = winnersOf(log_, hash, r.target, r.compiler);
      r.kernels[hash] = winners.empty() ? std::nullopt : std::optional(winners.front().opts);
    }
    r.usual = std::round(times.otherNs), r.warm = roundedRatio(times.warm), r.cold = roundedRatio(times.cold);
    SVOD_CHECK(appender_.append(r));
    log_.gains.push_back(std::move(r));
    return {};
  }

  /// The plan that a compile makes with the log: with the first decisions that the graph has, and what is asked for,
  /// which wins.
  std::pair<std::optional<PlanWinner>, Result<BuildResult>> withWinners(const std::string& graph,
                                                                        const BuildResult& build, const Asked& base) {
    for (PlanWinner& winner :
         planWinnersOf(log_, graphHash(build.model), settings_.place.target, settings_.place.compiler)) {
      Result<BuildResult> tuned = buildTuned(request_, place_, graph, askedWith(winner, base), log_);
      if (tuned || tuned.error()->diag != Diag::Usage) return {std::move(winner), std::move(tuned)};
    }
    return {std::nullopt, buildTuned(request_, place_, graph, base, log_)};
  }
  /// Whether something else is asked for than some of them, so that they did not run.
  static bool isAskedFor(const PlanWinner& decided, const Asked& base) {
    return std::ranges::any_of(decided.decisions, [&](const std::string& line) {
      const Result<Decision> decision = parseDecision(line);
      return decision && base.contains(decision->name);
    });
  }
  static Asked askedWith(const std::optional<PlanWinner>& decided, Asked asked) {
    if (!decided) return asked;
    for (const std::string& line : decided->decisions)
      if (const Result<Decision> decision = parseDecision(line)) asked.emplace(decision->name, decision->value());
    return asked;
  }

  /// They won where kernels had other opts: with the winners of all kernels the plan is not faster than that of -O1.
  Status dropDecisions(const PlanWinner& decided, const KernelsInPlan& whole, const std::string& graph) {
    PlanRecord r;
    r.graph = decided.graph, r.target = decided.target, r.decisions = decided.decisions, r.origin = kWhere;
    r.machine = settings_.place.planMachine, r.compiler = settings_.place.compiler;
    r.outcome = Outcome::Loses, r.ratio = roundedRatio(std::max(whole.warm, whole.cold));
    r.reason = timesIn(graph, whole.warm, whole.cold);
    SVOD_CHECK(appender_.append(r));
    log_.plans.push_back(std::move(r));
    return {};
  }

  static std::vector<InPlan> winnersIn(const BuildResult& build) {
    std::vector<InPlan> all;
    for (const CompiledKernel& kernel : build.compilation->kernels)
      if (std::ranges::find(kernel.tuned, kernel.desc.opts, &Winner::opts) != kernel.tuned.end())
        all.push_back({kernel.name, tuningHash(kernel), kernel.desc.opts});
    return all;
  }

  /// Of kernels whose best winners lost here, what was not timed in the plan is no winner either.
  Status dropRest(CheckedGraph& checked) {
    for (const std::string& hash : losers_)
      for (const Winner& left : winnersOf(log_, hash, settings_.place.target, settings_.place.compiler)) {
        const InPlan winner{"", hash, left.opts};
        if (isChecked(winner)) continue;
        CandidateRecord r = recordOf(winner);
        r.outcome = Outcome::Loses, r.ratio = 1;
        r.reason = std::string(kWhere) + " " + checked.name + " faster ones lost, and it was not timed";
        SVOD_CHECK(appender_.append(r));
        log_.candidates.push_back(std::move(r));
        ++checked.dropped;
      }
    return {};
  }

  /// How many were dropped.
  Result<size_t> record(const std::vector<InPlan>& winners, const KernelsInPlan& times, const std::string& graph) {
    size_t dropped = 0;
    for (const InPlan& winner : winners) {
      const auto found = times.kernels.find(winner.name);
      if (found == times.kernels.end() || isChecked(winner)) continue;
      const KernelInPlan& time = found->second;
      CandidateRecord r = recordOf(winner);
      r.reason = timesIn(graph, time.warm, time.cold);
      if (time.isSlower) losers_.insert(winner.hash);
      if (time.isSlower) r.outcome = Outcome::Loses, r.ratio = roundedRatio(std::max(time.warm, time.cold));
      dropped += time.isSlower ? 1 : 0;
      SVOD_CHECK(appender_.append(r));
      log_.candidates.push_back(std::move(r));
    }
    return dropped;
  }

  bool isOf(const CandidateRecord& r, const InPlan& winner) const {
    const TunePlace& here = settings_.place;
    return r.kernel == winner.hash && r.opts == winner.opts && r.target == here.target && r.machine == here.machine &&
           r.compiler == here.compiler;
  }
  bool isChecked(const InPlan& winner) const {
    return std::ranges::any_of(log_.candidates, [&](const CandidateRecord& r) {
      return isOf(r, winner) && r.outcome == Outcome::Wins && r.reason.starts_with(kWhere);
    });
  }
  /// What was measured of it here; as much as is known where it won elsewhere.
  CandidateRecord recordOf(const InPlan& winner) const {
    for (const CandidateRecord& r : log_.candidates)
      if (isOf(r, winner) && r.outcome == Outcome::Wins) return r;
    CandidateRecord r;
    r.kernel = winner.hash, r.opts = winner.opts, r.origin = kWhere, r.outcome = Outcome::Wins;
    r.target = settings_.place.target, r.machine = settings_.place.machine, r.compiler = settings_.place.compiler;
    for (const Winner& known : winnersOf(log_, winner.hash, r.target, r.compiler))
      if (known.opts == winner.opts) r.ratio = known.ratio;
    return r;
  }

  const Request& request_;
  Workplace& place_;
  TuningLog& log_;
  LogAppender& appender_;
  const TuneSettings& settings_;
  std::set<std::string> losers_;  // kernels
};

}  // namespace

Result<std::vector<CheckedGraph>> checkInPlans(const Request& request, Workplace& place,
                                               const std::deque<BuildResult>& builds, TuningLog& log,
                                               LogAppender& appender, const TuneSettings& settings) {
  std::vector<CheckedGraph> all;
  for (size_t i = 0; i < builds.size(); ++i) {
    if (!builds[i].options.devices.empty() || builds[i].compilation->kernels.empty()) continue;
    SVOD_TRY(CheckedGraph checked, PlanCheck(request, place, log, appender, settings).of(request.files[i], builds[i]));
    all.push_back(std::move(checked));
  }
  SVOD_CHECK(appender.flush());
  return all;
}

Table describeChecks(const std::vector<CheckedGraph>& graphs) {
  Table table{"plans",
              {{"name", "graph"},
               {"warm", "% warm", true},
               {"cold", "% cold", true},
               {"checked", "winners", true},
               {"slower", "lost there", true},
               {"problem", "why not run"}},
              {}};
  for (const CheckedGraph& g : graphs) {
    const auto cell = [&](double ratio) { return g.problem.empty() ? percentCell(ratio) : Cell(ratio, "-"); };
    table.rows.push_back({g.name, cell(g.warm), cell(g.cold), g.checked, g.dropped, g.problem});
  }
  return table;
}

}  // namespace svod
