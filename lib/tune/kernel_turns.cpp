#include "tune/kernel_turns.h"

#include <algorithm>
#include <map>
#include <set>

#include "choose/choose.h"
#include "ir/text.h"
#include "measure/code_store.h"
#include "measure/cpu_measure.h"
#include "measure/priced_measure.h"
#include "tune/budget.h"

namespace svod {

namespace {

/// The part of its time that a kernel may gain, with what is known of it from a log: a job that goes on begins with the
/// kernels that have had no time.
constexpr double kPromiseOfUnknown = 1, kPromiseOfKnown = 0.1;

class Tuning {
 public:
  Tuning(const std::vector<TuneKernel>& kernels, TuningLog& log, LogAppender& appender, const TuneSettings& settings,
         TuneProgress& progress, size_t first)
      : log_(log), appender_(appender), settings_(settings), progress_(progress), first_(first), place_(settings.place),
        best_(kernels.size()), baseline_(kernels.size()) {
    for (const TuneKernel& k : kernels) all_.push_back({k, ofLog(k), {}});
  }

  Result<std::vector<Tuned>> run() {
    std::vector<TimeClaim> claims;
    for (const Tuned& t : all_)
      claims.push_back({t.kernel.weight(), t.result.known > 0 ? kPromiseOfKnown : kPromiseOfUnknown});
    Turns turns(claims, secondsLeft());
    while (const std::optional<Turns::Turn> turn = turns.next(secondsLeft())) {
      at_ = turn->kernel;
      progress_.turn(first_ + at_, turn->round);
      SVOD_TRY(const TimeClaim claim, take(*turn));
      turns.ended(turn->kernel, claim);
      if (claim.isOver || isTried(all_[at_])) progress_.hadTurn(first_ + at_, claim.isOver);
    }
    SVOD_CHECK(appender_.flush());
    return std::move(all_);
  }

 private:
  /// What is known before the first turn.
  SearchResult ofLog(const TuneKernel& task) const {
    SearchResult result;
    result.isCut = true;
    const std::string baseline = toText(optsOf(task.kernel->choice));
    for (const auto& [text, verdict] : knownOf(log_, task.hash, place_)) {
      ++result.known;
      if (text == baseline) result.baseline = verdict.nanoseconds;
      if (verdict.outcome != Outcome::Wins || (result.winner && result.verdict.ratio <= verdict.ratio)) continue;
      const Result<std::vector<OptOp>> opts = parseOpts(text);
      if (opts) result.winner = Candidate{*opts, text, "tuning log"}, result.verdict = verdict;
    }
    return result;
  }

  double secondsLeft() const { return secondsBetween(TuneClock::now(), settings_.deadline); }

  /// One turn; what the kernel asks for the next one with.
  Result<TimeClaim> take(const Turns::Turn& turn) {
    const double before = best_[at_];
    start_ = 0;
    const TuneClock::time_point deadline = afterSeconds(TuneClock::now(), turn.seconds);
    SVOD_TRY(Tuned last, tune(all_[at_].kernel, deadline));
    Tuned& tuned = all_[at_];
    tuned.problem = last.problem, ++tuned.turns;
    if (tuned.problem.empty())
      addTurn(tuned.result, std::move(last.result));
    else
      tuned.result.isCut = false;
    const double after = best_[at_], from = before > 0 ? before : baseline_[at_];
    TimeClaim claim{after > 0 ? after * static_cast<double>(tuned.kernel.launches) : tuned.kernel.weight()};
    claim.gain = from > 0 && after > 0 ? std::max(0.0, 1 - after / from) : 1;
    claim.start = start_;
    claim.isOver = !tuned.problem.empty() || !tuned.result.isCut;
    return claim;
  }

  /// What it was known of before stays what it was known of before the first turn.
  static void addTurn(SearchResult& all, SearchResult last) {
    last.known = all.known;
    last.measured += all.measured, last.sameCode += all.sameCode, last.rounds += all.rounds;
    for (const auto& [outcome, count] : all.outcomes) last.outcomes[outcome] += count;
    all = std::move(last);
  }

  /// What knows the kernel with the opts of -O1. Errors: Unsupported where it cannot be tuned; Io.
  Result<std::unique_ptr<Measure>> begunMeasure(const TuneKernel& task, TuneClock::time_point deadline) const {
    const CompileOptions& options = task.build->options;
    const MeasureOptions& how = settings_.options.measure;
    const std::vector<OptOp> opts = optsOf(task.kernel->choice);
    const Candidate baseline{opts, toText(opts), "-O1", 0};
    if (settings_.options.isPriced) {
      auto priced = std::make_unique<PricedMeasure>(*task.kernel, options, deadline, how.compile.mostInstructions);
      SVOD_CHECK(priced->begin(baseline));
      return priced;
    }
    auto measure = std::make_unique<CpuMeasure>(*task.kernel, options, settings_.folder, deadline, how);
    if (!settings_.ahead.empty()) measure->use(CodeStore(settings_.ahead).of(task.hash));
    SVOD_CHECK(measure->begin(baseline));
    return measure;
  }

  Result<Tuned> tune(const TuneKernel& task, TuneClock::time_point deadline) {
    Tuned tuned{task, {}, {}};
    const CompiledKernel& kernel = *task.kernel;
    if (recorded_.insert(task.hash).second) SVOD_CHECK(recordKernel(task));
    const Caps caps = capsFor(task);
    const TuneClock::time_point from = TuneClock::now();
    const Result<std::unique_ptr<Measure>> measure = begunMeasure(task, deadline);
    start_ = secondsBetween(from, TuneClock::now());
    if (!measure) {
      if (measure.error()->diag == Diag::Io) return fail(measure.error());
      tuned.problem = measure.error()->message;
      return tuned;
    }
    const KnownTrials known = knownOf(log_, task.hash, place_);
    for (const auto& [opts, verdict] : known) notes(opts, verdict);
    place_.number = static_cast<int64_t>(known.size());
    const SearchOptions search = searchOptions(task, log_, settings_);
    const auto record = [&](const Candidate& candidate, const TrialResult& verdict) {
      show(task, candidate, verdict);
      return appender_.append(recordOf(candidate, verdict, task.hash, place_));
    };
    SVOD_TRY(tuned.result, svod::search(*kernel.graph, kernel.unopted, caps, **measure, search,
                                        knownOf(log_, task.hash, place_), hintsOf(log_, task.hash, place_), record));
    return tuned;
  }

  Status recordKernel(const TuneKernel& task) {
    const KernelRecord record{task.hash, task.kernel->name, toUopText(task.kernel->ast), task.launches};
    if (std::ranges::find(log_.kernels, record) != log_.kernels.end()) return {};
    SVOD_CHECK(appender_.append(record));
    log_.kernels.push_back(record);
    return {};
  }

  /// Before it is recorded, by its number.
  void show(const TuneKernel& task, const Candidate& candidate, const TrialResult& verdict) {
    if (verdict.outcome == Outcome::Started) return;
    const bool isNew = seen_.insert(task.hash + candidate.text).second;
    place_.number += isNew ? 1 : 0;
    log_.candidates.push_back(recordOf(candidate, verdict, task.hash, place_));  // for turns behind this one
    notes(candidate.text, verdict);
    if (isNew) progress_.tried();
  }

  /// The fastest right list there is.
  void notes(const std::string& opts, const TrialResult& verdict) {
    if (verdict.nanoseconds <= 0 || info(verdict.outcome).isFailure || verdict.outcome == Outcome::Slow) return;
    double& best = best_[at_];
    best = best > 0 ? std::min(best, verdict.nanoseconds) : verdict.nanoseconds;
    if (opts == toText(optsOf(all_[at_].kernel.kernel->choice))) baseline_[at_] = verdict.nanoseconds;
    progress_.knows(first_ + at_, baseline_[at_], best);
  }

  std::vector<Tuned> all_;
  TuningLog& log_;
  LogAppender& appender_;
  const TuneSettings& settings_;
  TuneProgress& progress_;
  size_t first_;
  TunePlace place_;
  std::vector<double> best_, baseline_;  // nanoseconds
  std::set<std::string> seen_, recorded_;
  size_t at_ = 0;     // the kernel that has its turn,
  double start_ = 0;  // seconds that it took to start
};

}  // namespace

Caps capsFor(const TuneKernel& task) {
  const CompileOptions& options = task.build->options;
  Caps caps = options.target->caps(options.machine, options.numerics);
  caps.overwrites = !task.kernel->inPlace.empty(), caps.constants = task.kernel->constants;
  return caps;
}

SearchOptions searchOptions(const TuneKernel& task, const TuningLog& log, const TuneSettings& settings) {
  SearchOptions search = settings.options.search;
  search.seed = std::stoull(task.hash.substr(0, 16), nullptr, 16);
  search.neighbours = neighboursOf({task.kernel->unopted, task.hash, settings.place.target, settings.place.machine},
                                   capsFor(task), log);
  return search;
}

Result<std::vector<Tuned>> tuneInTurns(const std::vector<TuneKernel>& kernels, TuningLog& log, LogAppender& appender,
                                       const TuneSettings& settings, TuneProgress& progress, size_t first) {
  return Tuning(kernels, log, appender, settings, progress, first).run();
}

}  // namespace svod
