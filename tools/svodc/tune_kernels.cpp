#include "tune_kernels.h"

#include <algorithm>
#include <cmath>

#include "driver/plan_price.h"
#include "driver/tuned_opts.h"
#include "ir/text.h"
#include "machine/host.h"

namespace svod {

namespace {

/// The later a verdict stands here the more it says.
int weightOf(const TrialResult& v) {
  if (v.outcome == Outcome::Started) return 0;
  if (info(v.outcome).isFailure) return 5;
  return v.outcome == Outcome::Loses ? 4 : v.outcome == Outcome::Wins ? 3 : v.outcome == Outcome::Timed ? 2 : 1;
}

}  // namespace

std::map<std::string, int64_t> launchesOf(const Compilation& compilation) {
  std::map<std::string, int64_t> launches;
  std::vector<std::string> hashes;
  for (const CompiledKernel& kernel : compilation.kernels) hashes.push_back(tuningHash(kernel));
  for (const ScheduleItem& item : compilation.schedule.items)
    if (item.kind == ItemKind::Launch && static_cast<size_t>(item.kernel) < hashes.size())  // others are functions in C
      ++launches[hashes[static_cast<size_t>(item.kernel)]];
  return launches;
}

std::vector<TuneKernel> kernelsToTune(const std::deque<BuildResult>& builds) {
  std::vector<TuneKernel> all;
  for (const BuildResult& build : builds) {
    for (const CompiledKernel& kernel : build.compilation->kernels) {
      std::string hash = tuningHash(kernel);
      if (std::ranges::find(all, hash, &TuneKernel::hash) != all.end()) continue;
      all.push_back({&build, &kernel, std::move(hash), 0, predictedTime(kernel, build.options)});
    }
    for (const auto& [hash, count] : launchesOf(*build.compilation))
      std::ranges::find(all, hash, &TuneKernel::hash)->launches += count;
  }
  std::ranges::stable_sort(all, std::greater(), &TuneKernel::weight);
  return all;
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

std::string shortName(const std::string& name, size_t longest) {
  constexpr std::string_view kDots = "..";
  if (name.size() <= longest) return name;
  const size_t kept = longest - std::min(longest, kDots.size()), end = kept / 2;
  return name.substr(0, kept - end) + std::string(kDots) + name.substr(name.size() - end);
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
