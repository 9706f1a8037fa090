#include "search/plan_search.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace svod {

namespace {

using Recorder = std::function<Status(const PlanCandidate&, const TrialResult&)>;

/// What may be asked for besides: values of one decision, or of several.
struct Change {
  Asked asked;
  std::string origin;
  double saves = 0;  // of the cost of what is chosen, as the pass that decides sees it; -1: not known
};

std::string kindOf(const std::string& name) { return name.substr(0, name.find(':')); }

double savingOf(const Decision& decision, const Alternative& other) {
  const std::optional<double> now = decision.alternatives[decision.chosen].cost;
  return now && other.cost && *now > 0 ? 1 - *other.cost / *now : -1;
}

/// Every other value of every decision that is not `fixed`, and every value of a kind for all of it that were made
/// alike. Those that save most come first.
std::vector<Change> changesOf(const std::vector<Decision>& decisions, const Asked& fixed) {
  std::vector<Change> all;
  std::map<std::tuple<std::string, std::string, std::string>, Change> kinds;  // by kind, value, other value
  for (const Decision& d : decisions) {
    if (fixed.contains(d.name)) continue;
    for (const Alternative& other : d.alternatives) {
      if (other.value == d.value()) continue;
      all.push_back({{{d.name, other.value}}, "decision", savingOf(d, other)});
      Change& kind = kinds[{kindOf(d.name), d.value(), other.value}];
      kind.asked.emplace(d.name, other.value);
      kind.origin = "every " + kindOf(d.name), kind.saves = 1;
    }
  }
  for (auto& [key, change] : kinds)
    if (change.asked.size() > 1) all.push_back(std::move(change));
  std::ranges::stable_sort(all, std::greater(), &Change::saves);
  return all;
}

/// Nanoseconds in kernels that only one of two plans has, the greater of both; infinite where it is not known.
double differenceOf(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  if (a.empty() || b.empty()) return std::numeric_limits<double>::infinity();
  const auto more = [](const auto& of, const auto& than) {
    double all = 0;
    for (const auto& [kernel, time] : of) {
      const auto found = than.find(kernel);
      all += std::max(0.0, time - (found == than.end() ? 0 : found->second));
    }
    return all;
  };
  return std::max(more(a, b), more(b, a));
}

class PlanSearch {
 public:
  PlanSearch(PlanMeasure& measure, const Asked& base, const PlanSearchOptions& options, KnownPlans known,
             const Recorder& record)
      : measure_(measure), base_(base), options_(options), known_(std::move(known)), record_(record) {}

  Result<PlanSearchResult> run(const std::vector<Asked>& hints) {
    const PlanForecast baseline = measure_.price(base_);
    ++result_.priced;
    if (!baseline.problem.empty()) return std::move(result_);
    best_ = {base_, "usual", baseline.nanoseconds};
    forecast_ = baseline;
    seen_.insert(baseline.plan);
    for (const Asked& hint : hints) {
      if (isOver()) break;
      if (std::optional<Priced> priced = price(withBase(hint), "tuning log")) SVOD_CHECK(meet(std::move(*priced)));
    }
    for (bool hasGained = true; hasGained && !isOver();) {
      SVOD_TRY(hasGained, round());
    }
    return std::move(result_);
  }

 private:
  struct Priced {
    PlanCandidate candidate;
    PlanForecast forecast;
  };

  /// Asked where there is more to do.
  bool isOver() { return result_.isCut = measure_.isOver(); }

  Asked withBase(Asked asked) const {
    for (const auto& [name, value] : base_) asked.insert_or_assign(name, value);
    return asked;
  }

  /// Nothing where it is no plan, or one that was priced already.
  std::optional<Priced> price(Asked asked, std::string origin) {
    PlanForecast plan = measure_.price(asked);
    ++result_.priced;
    if (!plan.problem.empty()) {
      ++result_.impossible;
      return std::nullopt;
    }
    if (!seen_.insert(plan.plan).second) {
      ++result_.same;
      return std::nullopt;
    }
    return Priced{{std::move(asked), std::move(origin), plan.nanoseconds}, std::move(plan)};
  }

  /// Changes of the plan to beat, until one wins.
  Result<bool> round() {
    std::vector<Priced> promising;
    measure_.beginPricing();
    for (const Change& change : changesOf(forecast_.decisions, base_)) {
      if (isOver() || (measure_.isPricingOver() && !promising.empty())) break;
      Asked asked = best_.asked;
      for (const auto& [name, value] : change.asked) asked.insert_or_assign(name, value);
      std::optional<Priced> priced = price(std::move(asked), change.origin);
      if (!priced) continue;
      if (priced->candidate.predicted > options_.promising * best_.predicted)
        ++result_.hopeless;
      else if (differenceOf(forecast_.kernels, priced->forecast.kernels) < options_.least * best_.predicted)
        ++result_.small;
      else
        promising.push_back(std::move(*priced));
    }
    std::ranges::stable_sort(promising, {}, [](const Priced& p) { return p.candidate.predicted; });
    promising.resize(std::min(promising.size(), options_.together));
    for (Priced& p : promising) {
      if (isOver()) return false;
      SVOD_TRY(const bool wins, meet(std::move(p)));
      if (wins) return true;
    }
    return false;
  }

  /// Whether it is the plan to beat from here on.
  Result<bool> meet(Priced priced) {
    const PlanCandidate& c = priced.candidate;
    TrialResult verdict;
    if (const auto found = known_.find(c.asked); found != known_.end()) {
      verdict = found->second;
      ++result_.known;
    } else {
      SVOD_CHECK(record_(c, {Outcome::Started}));
      verdict = measure_.compare(c, best_);
      verdict.ratio *= result_.ratio;  // that was one of the plan to beat
      ++result_.measured, ++result_.outcomes[verdict.outcome];
      SVOD_CHECK(record_(c, verdict));
    }
    if (verdict.outcome != Outcome::Wins || verdict.ratio >= result_.ratio) return false;
    result_.winner = c, result_.ratio = verdict.ratio;
    best_ = std::move(priced.candidate), forecast_ = std::move(priced.forecast);
    return true;
  }

  PlanMeasure& measure_;
  const Asked& base_;
  const PlanSearchOptions& options_;
  KnownPlans known_;
  const Recorder& record_;
  PlanCandidate best_;     // to beat
  PlanForecast forecast_;  // of it
  std::set<std::string> seen_;
  PlanSearchResult result_;
};

}  // namespace

std::vector<std::string> linesOf(const Asked& asked) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : asked) lines.push_back(name + "=" + value);
  return lines;
}

Result<PlanSearchResult> searchPlans(PlanMeasure& measure, const Asked& base, const std::vector<Asked>& hints,
                                     const PlanSearchOptions& options, KnownPlans known, const Recorder& record) {
  return PlanSearch(measure, base, options, std::move(known), record).run(hints);
}

}  // namespace svod
