#include "tune/decisions.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "driver/plan_price.h"
#include "driver/tuned_plan.h"
#include "measure/child.h"
#include "measure/priced_measure.h"
#include "tune/plans_in_turns.h"

namespace svod {

namespace {

using Json = nlohmann::json;

constexpr double kSecondsEach = 3;  // to tune a kernel that is new in a plan, of the time that is left a third at most
constexpr ChildLimits kPriceLimits{60, uint64_t{8} << 30};

/// One graph, for which it answers what a search of its decisions asks.
class GraphPlans : public PlanMeasure {
 public:
  GraphPlans(TuneGraph& graph, TuningLog& log, LogAppender& appender, const TuneSettings& settings,
             TuneProgress& progress)
      : graph_(graph), log_(log), appender_(appender), settings_(settings), progress_(progress) {}

  bool isPriced() const { return settings_.options.isPriced; }
  int variablesAt() const { return settings_.options.measure.compile.variablesAt; }
  bool isOver() override { return TuneClock::now() >= settings_.deadline; }
  void beginPricing() override {
    pricingEnd_ = afterSeconds(TuneClock::now(), secondsBetween(TuneClock::now(), settings_.deadline) / 2);
  }
  bool isPricingOver() override { return TuneClock::now() >= pricingEnd_; }

  /// In a process of its own: a graph only ever grows.
  PlanForecast price(const Asked& asked) override {
    const ChildEnd end = runInChild(kPriceLimits, [&](const ChildOutput& output) {
      DecisionRequests requests;
      requests.values.insert(asked.begin(), asked.end());
      KernelPrices prices = prices_;
      const Result<PlanPrice> price =
          priceOf(graph_.usual.model, graph_.usual.compilation->folded, graph_.usual.options, requests, prices);
      Json json;
      if (price)
        json = {{"ns", price->nanoseconds}, {"plan", price->plan}, {"kernels", price->kernels}};
      else
        json = {{"problem", price.error()->message}};
      for (const auto& [kernel, ns] : prices)
        if (!prices_.contains(kernel)) json["prices"][kernel] = ns;
      if (price)
        for (const Decision& decision : price->decisions) json["decisions"].push_back(toText(decision));
      output.write(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    });
    const Json said = Json::parse(end.text, nullptr, false);
    if (!said.is_object()) return {{}, 0, "", "the compiler ended"};
    if (said.contains("problem")) return {{}, 0, "", said["problem"]};
    PlanForecast plan{{}, said["ns"], said["plan"], "", said["kernels"]};
    if (said.contains("prices"))
      for (const auto& [kernel, ns] : said["prices"].items()) prices_[kernel] = ns;
    if (said.contains("decisions"))
      for (const Json& line : said["decisions"])
        if (Result<Decision> decision = parseDecision(line.get<std::string>()))
          plan.decisions.push_back(std::move(*decision));
    return plan;
  }

  TrialResult compare(const PlanCandidate& candidate, const PlanCandidate& than) override {
    progress_.plans(++measured_);
    if (settings_.options.isPriced) {
      const double ratio = candidate.predicted / than.predicted;
      return {ratio < kClearlyLess ? Outcome::Wins : Outcome::Loses, "", candidate.predicted, 0, ratio};
    }
    if (const Status tuned = tuneNewKernels(candidate.asked); !tuned)
      return {Outcome::CompileFailed, tuned.error()->message};
    if (!best_ || bestAsked_ != than.asked) {
      Result<BuiltGraph> built = buildTuned(graph_, than.asked, log_);
      if (!built) return {Outcome::CompileFailed, built.error()->message};
      best_ = std::make_unique<BuiltGraph>(std::move(*built)), bestAsked_ = than.asked;
    }
    Result<BuiltGraph> built = buildTuned(graph_, candidate.asked, log_);
    if (!built) return {Outcome::CompileFailed, built.error()->message};
    return comparePlans(
        {built->model, best_->model, *built->compilation, *best_->compilation, built->options.numerics, variablesAt()});
  }

 private:
  /// Those of the plan that were not tuned in this place before. What they are compared with is -O1.
  Status tuneNewKernels(const Asked& asked) {
    const TuningLog none;
    SVOD_TRY(const BuiltGraph built, buildTuned(graph_, asked, none));
    const BuiltGraph* const builds[] = {&built};
    std::set<std::string> known;
    for (const CandidateRecord& r : log_.candidates)
      if (r.target == settings_.place.target && r.machine == settings_.place.machine) known.insert(r.kernel);
    std::vector<TuneKernel> kernels = kernelsToTune(builds);
    std::erase_if(kernels, [&](const TuneKernel& k) { return known.contains(k.hash) || k.kernel->reused; });
    if (kernels.empty()) return {};
    TuneSettings settings = settings_;
    settings.place.decisions = linesOf(asked);
    const double left = secondsBetween(TuneClock::now(), settings_.deadline);
    settings.deadline =
        afterSeconds(TuneClock::now(), std::min(left / 3, kSecondsEach * static_cast<double>(kernels.size())));
    return tuneInTurns(kernels, log_, appender_, settings, progress_, progress_.add(kernels))
        .transform([](const std::vector<Tuned>&) {});
  }

  TuneGraph& graph_;
  TuningLog& log_;
  LogAppender& appender_;
  const TuneSettings& settings_;
  TuneProgress& progress_;
  KernelPrices prices_;
  std::unique_ptr<BuiltGraph> best_;  // the plan to beat
  Asked bestAsked_;
  TuneClock::time_point pricingEnd_{};
  size_t measured_ = 0;
};

/// Nothing where a line is no decision.
std::optional<Asked> askedFrom(const std::vector<std::string>& lines) {
  Asked asked;
  for (const std::string& line : lines) {
    const Result<Decision> decision = parseDecision(line);
    if (!decision) return std::nullopt;
    asked.emplace(decision->name, decision->value());
  }
  return asked;
}

KnownPlans knownPlans(const TuningLog& log, const std::string& graph, const TunePlace& place) {
  KnownPlans known;
  for (const PlanRecord& r : log.plans) {
    if (r.graph != graph || r.target != place.target || r.machine != place.planMachine || r.compiler != place.compiler)
      continue;
    TrialResult verdict{r.outcome, r.reason, r.nanoseconds, r.noise, r.ratio, r.runs};
    const std::optional<Asked> asked = askedFrom(r.decisions);
    if (!asked) continue;
    const auto [at, isNew] = known.emplace(*asked, verdict);
    if (!isNew && (at->second.outcome == Outcome::Started || verdict.outcome != Outcome::Wins)) at->second = verdict;
  }
  return known;
}

PlanRecord recordOf(const PlanCandidate& candidate, const TrialResult& verdict, const std::string& graph,
                    const TunePlace& place) {
  PlanRecord r;
  r.graph = graph, r.target = place.target, r.machine = place.planMachine, r.compiler = place.compiler;
  r.decisions = linesOf(candidate.asked), r.origin = candidate.origin, r.predicted = std::round(candidate.predicted);
  r.outcome = verdict.outcome, r.reason = verdict.reason, r.nanoseconds = std::round(verdict.nanoseconds);
  r.noise = roundedRatio(verdict.noise), r.ratio = roundedRatio(verdict.ratio);
  r.runs = verdict.runs;
  return r;
}

Result<TunedGraph> tuneGraph(GraphPlans& plans, const TuneGraph& graph, TuningLog& log, LogAppender& appender,
                             const TunePlace& place) {
  const BuiltGraph& build = graph.usual;
  TunedGraph tuned{graph.name, {}, ""};
  if (!build.options.devices.empty() || build.compilation->kernels.empty()) {
    tuned.problem = build.compilation->kernels.empty() ? "it has no kernels" : "it runs on several devices";
    return tuned;
  }
  if (!plans.isPriced()) tuned.problem = whyNotRun(build.model, *build.compilation, plans.variablesAt());
  if (!tuned.problem.empty()) return tuned;
  const std::string hash = graphHash(build.model);
  const Asked base = askedOf(graph);
  std::vector<Asked> hints;
  for (const PlanWinner& winner : planWinnersOf(log, hash, place.target, place.compiler))
    if (std::optional<Asked> asked = askedFrom(winner.decisions)) hints.push_back(std::move(*asked));
  const auto record = [&](const PlanCandidate& candidate, const TrialResult& verdict) {
    const PlanRecord record = recordOf(candidate, verdict, hash, place);
    if (verdict.outcome != Outcome::Started) log.plans.push_back(record);  // it ends while this process lives
    return appender.append(record);
  };
  SVOD_TRY(tuned.result, searchPlans(plans, base, hints, {}, knownPlans(log, hash, place), record));
  return tuned;
}

}  // namespace

Result<std::vector<TunedGraph>> tuneDecisions(std::span<TuneGraph* const> graphs, TuningLog& log, LogAppender& appender,
                                              const TuneSettings& settings, TuneProgress& progress) {
  std::vector<TunedGraph> all;
  for (TuneGraph* const graph : graphs) {
    TuneSettings own = settings;  // an equal part of what is left for each
    const double left = secondsBetween(TuneClock::now(), settings.deadline);
    own.deadline = afterSeconds(TuneClock::now(), left / static_cast<double>(graphs.size() - all.size()));
    GraphPlans plans(*graph, log, appender, own, progress);
    SVOD_TRY(TunedGraph tuned, tuneGraph(plans, *graph, log, appender, settings.place));
    all.push_back(std::move(tuned));
  }
  SVOD_CHECK(appender.flush());
  return all;
}

}  // namespace svod
