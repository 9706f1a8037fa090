#include "tune/place.h"

#include <algorithm>
#include <cmath>

#include "driver/tuned_opts.h"
#include "ir/text.h"
#include "machine/host.h"
#include "measure/code.h"

namespace svod {

namespace {

/// The strength of the evidence in a record: of several for one list the strongest counts.
int weightOf(const TrialResult& v) {
  if (v.outcome == Outcome::Started) return 0;
  if (info(v.outcome).isFailure) return 5;
  return v.outcome == Outcome::Loses ? 4 : v.outcome == Outcome::Wins ? 3 : v.outcome == Outcome::Timed ? 2 : 1;
}

}  // namespace

TunePlace placeOf(const TuneGraph& graph, const TuneOptions& options) {
  const std::string target = tuningTarget(graph.usual.options);
  const std::vector<std::string> decisions = linesOf(askedOf(graph));
  if (options.isPriced)
    return {target, std::string(kPricedMachine), tuningCompiler(), std::string(kPricedMachine), decisions};
  const RunConditions& run = options.measure.run;
  const int variablesAt = options.measure.compile.variablesAt;
  std::string machine = machineText();  // what was measured in another way is another machine
  if (run.threads > 1) machine += ", " + std::to_string(run.threads) + " threads";
  if (run.coldCaches) machine += ", cold caches";
  if (variablesAt != kLikely) machine += ", variables at " + std::to_string(variablesAt) + " %";
  const bool isBound = hostCores() < hostProcessors();
  const std::string planMachine =
      machine + (isBound ? ", on " + std::to_string(hostCores()) + " of the processors" : "");
  return {target, machine, tuningCompiler(), planMachine, decisions};
}

KnownTrials knownOf(const TuningLog& log, const std::string& kernel, const TunePlace& place) {
  KnownTrials known;
  for (const CandidateRecord& r : log.candidates) {
    if (r.kernel != kernel || r.target != place.target || r.machine != place.machine || r.compiler != place.compiler)
      continue;
    TrialResult verdict{r.outcome, r.reason, r.nanoseconds, r.noise, r.ratio, r.runs, r.ulp};
    const auto [at, isNew] = known.emplace(r.opts, verdict);
    if (!isNew && weightOf(verdict) > weightOf(at->second)) at->second = std::move(verdict);
  }
  return known;
}

std::vector<std::vector<OptOp>> hintsOf(const TuningLog& log, const std::string& kernel, const TunePlace& place) {
  std::vector<std::vector<OptOp>> hints;
  for (const Winner& winner : winnersOf(log, kernel, place.target, place.compiler))
    if (Result<std::vector<OptOp>> opts = parseOpts(winner.opts)) hints.push_back(std::move(*opts));
  return hints;
}

CandidateRecord recordOf(const Candidate& candidate, const TrialResult& verdict, const std::string& kernel,
                         const TunePlace& place) {
  CandidateRecord r;
  r.kernel = kernel, r.target = place.target, r.machine = place.machine, r.compiler = place.compiler;
  r.opts = candidate.text, r.origin = candidate.origin, r.predicted = std::round(candidate.predicted);
  r.decisions = place.decisions;
  r.outcome = verdict.outcome, r.reason = verdict.reason;
  r.nanoseconds = std::round(verdict.nanoseconds * 10) / 10;
  r.noise = roundedRatio(verdict.noise), r.ratio = roundedRatio(verdict.ratio);
  if (verdict.ulp) r.ulp = std::round(*verdict.ulp * 100) / 100;
  r.runs = verdict.runs, r.number = verdict.outcome == Outcome::Started ? 0 : place.number;
  return r;
}

std::string machineText() {
  const HostCaches caches = hostCaches();
  const auto kib = [](int64_t bytes) { return std::to_string(bytes >> 10); };
  const int processors = hostProcessors();
  return hostVendor() + ", " + std::to_string(processors) + (processors == 1 ? " processor" : " processors") +
         ", caches of " + kib(caches.l1) + ", " + kib(caches.l2) + " and " + kib(caches.l3) + " KiB";
}

double roundedRatio(double ratio) { return std::round(ratio * 1e4) / 1e4; }

}  // namespace svod
