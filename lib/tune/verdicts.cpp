#include "tune/verdicts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "driver/tuned_opts.h"
#include "driver/tuned_plan.h"

namespace svod {

namespace {

constexpr char kWhere[] = "in the plan";

std::string percent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * ratio);
  return text;
}

std::string timesText(const char* what, double warm, double cold) {
  return std::string(what) + " takes " + percent(warm) + " of -O1 with warm caches, " + percent(cold) +
         " with cold ones";
}

}  // namespace

std::vector<InPlan> winnersIn(const Compilation& compilation) {
  std::vector<InPlan> all;
  for (const CompiledKernel& kernel : compilation.kernels)
    if (std::ranges::find(kernel.tuned, kernel.desc.opts, &Winner::opts) != kernel.tuned.end())
      all.push_back({kernel.name, tuningHash(kernel), kernel.desc.opts});
  return all;
}

Result<size_t> PlanVerdicts::record(const std::vector<InPlan>& winners, const KernelsInPlan& times) {
  size_t lost = 0;
  for (const InPlan& winner : winners) {
    const auto found = times.kernels.find(winner.name);
    if (found == times.kernels.end() || isChecked(winner)) continue;
    const KernelInPlan& time = found->second;
    const bool isNext = losers_.contains(winner.hash);
    if (!time.isTold && !isNext) continue;  // it won on its own, and nothing speaks against it
    const std::string reason =
        time.isTold ? timesText(" it", time.warm, time.cold) : " faster ones lost, and there was no time to tell of it";
    if (!time.isTold || time.isSlower) {
      ++lost, losers_.insert(winner.hash);
      SVOD_CHECK(lose(winner, time.isTold ? std::max(time.warm, time.cold) : 1, reason));
      continue;
    }
    CandidateRecord r = recordOf(winner);
    r.reason = kWhere + (" " + graph_) + reason;
    SVOD_CHECK(add(std::move(r)));
  }
  return lost;
}

size_t PlanVerdicts::untold(const std::vector<InPlan>& winners) const {
  return static_cast<size_t>(std::ranges::count_if(winners, [&](const InPlan& winner) { return !isChecked(winner); }));
}

Status PlanVerdicts::dropDecisions(const PlanWinner& decided, const WholeTimes& times) {
  loser_ = decided;
  return loseDecisions(decided, std::max(times.warm, times.cold), timesText(" it", times.warm, times.cold));
}

Status PlanVerdicts::dropKernel(const InPlan& winner, const std::optional<WholeTimes>& times) {
  const std::string why =
      times ? timesText(" it is not slower, but the whole plan with it", times->warm, times->cold)
            : " the whole plan is slower than that of -O1, and there was no time to see whether with it";
  SVOD_CHECK(lose(winner, times ? std::max(times->warm, times->cold) : 1, why));
  for (const Winner& left : winnersOf(log_, winner.hash, place_.target, place_.compiler))
    SVOD_CHECK(lose({"", winner.hash, left.opts}, 1, " the whole plan was slower, and was not timed with it"));
  return {};
}

Result<size_t> PlanVerdicts::dropRest() {
  size_t dropped = 0;
  for (const std::string& hash : losers_)
    for (const Winner& left : winnersOf(log_, hash, place_.target, place_.compiler)) {
      const InPlan winner{"", hash, left.opts};
      if (isChecked(winner)) continue;
      SVOD_CHECK(lose(winner, 1, " faster ones lost, and it was not timed"));
      ++dropped;
    }
  if (!loser_) return dropped;
  for (const PlanWinner& left : planWinnersOf(log_, loser_->graph, place_.target, place_.compiler)) {
    SVOD_CHECK(loseDecisions(left, 1, " faster ones lost, and it was not compared"));
    ++dropped;
  }
  return dropped;
}

Status PlanVerdicts::recordGain(const BuiltGraph& tuned, const Asked& base, const std::optional<PlanWinner>& decided,
                                const KernelsInPlan& times) {
  GainRecord r;
  r.graph = graphHash(tuned.model), r.target = place_.target, r.machine = place_.planMachine;
  r.compiler = place_.compiler, r.asked = linesOf(base);
  if (decided) r.decisions = decided->decisions;
  for (PlanWinner& better : planWinnersOf(log_, r.graph, r.target, r.compiler)) {
    if (better.decisions == r.decisions) break;
    r.passed.push_back(std::move(better.decisions));
  }
  for (const CompiledKernel& kernel : tuned.compilation->kernels) r.kernels[tuningHash(kernel)] = std::nullopt;
  for (const InPlan& winner : winnersIn(*tuned.compilation)) r.kernels[winner.hash] = winner.opts;
  r.baseline = std::round(times.otherNs);
  r.warm = roundedRatio(times.whole.warm), r.cold = roundedRatio(times.whole.cold);
  SVOD_CHECK(appender_.append(r));
  log_.gains.push_back(std::move(r));
  return {};
}

bool PlanVerdicts::isOf(const CandidateRecord& r, const InPlan& winner) const {
  return r.kernel == winner.hash && r.opts == winner.opts && r.target == place_.target && r.machine == place_.machine &&
         r.compiler == place_.compiler;
}

bool PlanVerdicts::isChecked(const InPlan& winner) const {
  return std::ranges::any_of(log_.candidates, [&](const CandidateRecord& r) {
    return isOf(r, winner) && r.outcome == Outcome::Wins && r.reason.starts_with(kWhere);
  });
}

/// What was measured of it here; as much as is known where it won elsewhere.
CandidateRecord PlanVerdicts::recordOf(const InPlan& winner) const {
  for (const CandidateRecord& r : log_.candidates)
    if (isOf(r, winner) && r.outcome == Outcome::Wins) return r;
  CandidateRecord r;
  r.kernel = winner.hash, r.opts = winner.opts, r.origin = kWhere, r.outcome = Outcome::Wins;
  r.target = place_.target, r.machine = place_.machine, r.compiler = place_.compiler;
  for (const Winner& known : winnersOf(log_, winner.hash, r.target, r.compiler))
    if (known.opts == winner.opts) r.ratio = known.ratio;
  return r;
}

Status PlanVerdicts::add(CandidateRecord r) {
  SVOD_CHECK(appender_.append(r));
  log_.candidates.push_back(std::move(r));
  return {};
}

Status PlanVerdicts::lose(const InPlan& winner, double ratio, const std::string& reason) {
  CandidateRecord r = recordOf(winner);
  r.outcome = Outcome::Loses, r.ratio = roundedRatio(ratio), r.reason = kWhere + (" " + graph_) + reason;
  return add(std::move(r));
}

Status PlanVerdicts::loseDecisions(const PlanWinner& decided, double ratio, std::string reason) {
  PlanRecord r;
  r.graph = decided.graph, r.target = decided.target, r.decisions = decided.decisions, r.origin = kWhere;
  r.machine = place_.planMachine, r.compiler = place_.compiler;
  r.outcome = Outcome::Loses, r.ratio = roundedRatio(ratio), r.reason = kWhere + (" " + graph_) + reason;
  SVOD_CHECK(appender_.append(r));
  log_.plans.push_back(std::move(r));
  return {};
}

}  // namespace svod
