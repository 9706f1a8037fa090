// svodc tune GRAPH.. --tuning-log FILE
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "driver/tuned_opts.h"
#include "ir/text.h"
#include "measure/cpu_measure.h"
#include "report/render.h"
#include "tune_budget.h"
#include "tune_kernels.h"
#include "tuning/log_file.h"
#include "tuning_log.h"

namespace svod {

namespace {

using Clock = std::chrono::steady_clock;

struct Tuned {
  TuneKernel kernel;
  SearchResult result;
  std::string problem;  // why it was not tuned
};

Status checkTune(const Request& request) {
  const Flags& flags = request.flags;
  if (flags.tuningLog.empty() || flags.tuningLog == "-")
    return fail(Diag::Usage, "svodc tune needs --tuning-log FILE", "records are appended there, and read from there");
  if (!flags.opts.empty() || flags.optLevel != 1)
    return fail(Diag::Usage, "svodc tune looks for opts itself", "leave --opts and -O out");
  if (flags.target != "cpu")
    return fail(Diag::Unsupported, "target " + flags.target + " cannot be measured here", "tune for target cpu");
  if (flags.beam < 0 || flags.beam > 1000)
    return fail(Diag::Usage, "--beam needs a number of lists from 0 to 1000, not " + std::to_string(flags.beam),
                "0, or leaving it out, begins with what the strategies make");
  return {};
}

/// Whether the code can run on this processor.
Status checkMachine(const CompileOptions& options) {
  const auto& wanted = std::get<CpuTarget>(options.machine);
  SVOD_TRY(const CpuTarget here, makeCpuTarget("", "native"));
  if (wanted.triple != here.triple)
    return fail(Diag::Unsupported, "code for " + wanted.triple + " does not run here", "tune on such a machine");
  for (const std::string& feature : wanted.features)
    if (!here.has(feature))
      return fail(Diag::Unsupported, "this processor has no " + feature + ", which " + wanted.name + " has",
                  "tune on such a machine, or for this one");
  return {};
}

/// The builds of all graphs, without a log: what is measured is compared with -O1.
Result<std::deque<BuildResult>> buildAll(const Request& request, Console& console, Workplace& place) {
  std::deque<BuildResult> builds;
  for (const std::string& graph : request.files) {
    Request one = request;
    one.files = {graph}, one.flags.tuningLog.clear();
    SVOD_TRY(BuildResult build, buildGraph(one, console, place, true));
    builds.push_back(std::move(build));
  }
  return builds;
}

/// One run of the command.
class Tuning {
 public:
  Tuning(const Request& request, Console& console, Workplace& place, TuningLog log, LogAppender appender,
         double seconds)
      : request_(request), console_(console), folder_(place.directory.file("")), log_(std::move(log)),
        appender_(std::move(appender)),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  Result<std::vector<Tuned>> run(const std::deque<BuildResult>& builds) {
    place_ = {tuningTarget(builds.front().options), machineText(), tuningCompiler(), request_.flags.decide};
    std::vector<TuneKernel> kernels = kernelsToTune(builds);
    std::vector<Tuned> all;
    for (size_t i = 0; i < kernels.size(); ++i) {
      std::vector<double> weights;
      for (size_t j = i; j < kernels.size(); ++j) weights.push_back(kernels[j].weight());
      number_ = i + 1, count_ = kernels.size();
      SVOD_TRY(Tuned tuned, tune(kernels[i], shareOfFirst(secondsLeft(), weights)));
      all.push_back(std::move(tuned));
    }
    SVOD_CHECK(appender_.flush());
    console_.clearProgress();
    return all;
  }

 private:
  double secondsLeft() const { return std::max(0.0, std::chrono::duration<double>(deadline_ - Clock::now()).count()); }

  Result<Tuned> tune(const TuneKernel& task, double seconds) {
    Tuned tuned{task, {}, {}};
    if (seconds <= 0) {
      tuned.problem = "no time was left";
      return tuned;
    }
    const CompiledKernel& kernel = *task.kernel;
    const CompileOptions& options = task.build->options;
    SVOD_CHECK(recordKernel(task));
    Caps caps = options.target->caps(options.machine, options.numerics);
    caps.overwrites = !kernel.inPlace.empty(), caps.constants = kernel.constants;
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    CpuMeasure measure(kernel, options, folder_, deadline);
    const std::vector<OptOp> usual = optsOf(kernel.choice);
    if (Status begun = measure.begin({usual, toText(usual), "-O1", 0}); !begun) {
      tuned.problem = begun.error()->message;
      return tuned;
    }
    SearchOptions search;
    search.beam = static_cast<int>(request_.flags.beam);
    search.seed = std::stoull(task.hash.substr(0, 16), nullptr, 16);
    const auto record = [&](const Candidate& candidate, const TrialResult& verdict) {
      show(task, candidate, verdict);
      return appender_.append(recordOf(candidate, verdict, task.hash, place_));
    };
    SVOD_TRY(tuned.result, svod::search(*kernel.graph, kernel.unopted, caps, measure, search,
                                        knownOf(log_, task.hash, place_), hintsOf(log_, task.hash, place_), record));
    return tuned;
  }

  Status recordKernel(const TuneKernel& task) {
    const KernelRecord record{task.hash, task.kernel->name, toUopText(task.kernel->ast)};
    if (std::ranges::find(log_.kernels, record) != log_.kernels.end()) return {};
    return appender_.append(record);
  }

  void show(const TuneKernel& task, const Candidate&, const TrialResult& verdict) {
    if (verdict.outcome == Outcome::Started) return;
    ++candidates_;
    const double spent = std::chrono::duration<double>(Clock::now() - start_).count();
    char rate[32];
    std::snprintf(rate, sizeof rate, "%.1f", static_cast<double>(candidates_) / std::max(spent, 0.1));
    console_.progress("kernel " + std::to_string(number_) + " of " + std::to_string(count_) + ", " + task.kernel->name +
                      ": " + std::to_string(candidates_) + " candidates, " + rate + " a second, " +
                      clockText(secondsLeft()) + " left");
  }

  const Request& request_;
  Console& console_;
  std::string folder_;
  TuningLog log_;
  LogAppender appender_;
  Clock::time_point start_ = Clock::now(), deadline_;
  TunePlace place_;
  size_t number_ = 0, count_ = 0, candidates_ = 0;
};

Cell percent(double part) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 100 * part);
  return Cell(part, text);
}

Document describe(const std::vector<Tuned>& all, const std::string& log) {
  double before = 0, after = 0;
  int64_t gained = 0, candidates = 0;
  Table table{"kernels",
              {{"name", "kernel"},
               {"launches", "launches", true},
               {"ns", "-O1", true},
               {"ratio", "% of it", true},
               {"candidates", "candidates", true},
               {"known", "known", true},
               {"sameCode", "same code", true},
               {"dropped", "dropped", true},
               {"opts", "opts, or why not"}},
              {}};
  for (const Tuned& t : all) {
    const SearchResult& r = t.result;
    const double time = r.usual * static_cast<double>(t.kernel.launches), ratio = r.winner ? r.verdict.ratio : 1;
    before += time, after += time * ratio, gained += r.winner ? 1 : 0;
    candidates += static_cast<int64_t>(r.measured);
    size_t dropped = 0;
    std::string reasons;
    for (const auto& [outcome, count] : r.outcomes)
      if (info(outcome).isFailure)
        dropped += count, reasons += " " + std::to_string(count) + " " + std::string(info(outcome).name);
    const std::string why = !t.problem.empty() ? t.problem : r.winner ? r.winner->text : "-O1 stays";
    table.rows.push_back({t.kernel.kernel->name, t.kernel.launches, timeCell(r.usual), percent(ratio), r.measured,
                          r.known, r.sameCode, Cell(dropped, std::to_string(dropped) + reasons), why});
  }
  const FactList facts = {{"log", "tuning log", log},
                          {"candidates", "candidates measured", candidates},
                          {"gained", "kernels that gained", gained},
                          {"expected", "expected time, % of -O1", percent(before > 0 ? after / before : 1)}};
  return {"", {{"", "Tuned", {facts, table}}}};
}

}  // namespace

Result<int> runTune(const Request& request, Console& console) {
  SVOD_CHECK(checkTune(request));
  SVOD_TRY(const double seconds, parseSeconds(request.flags.budget));
  const std::string& path = request.flags.tuningLog;
  TuningLog log;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    SVOD_TRY(log, readTuningLog(path, console));
  }
  SVOD_TRY(std::unique_ptr<Workplace> place, Workplace::make(request));
  SVOD_TRY(const std::deque<BuildResult> builds, buildAll(request, console, *place));
  for (const BuildResult& build : builds) SVOD_CHECK(checkMachine(build.options));
  SVOD_TRY(LogAppender appender, LogAppender::open(path));
  request.interrupts->says("interrupted; the tuning log has all that was measured", "run it again to go on");
  Tuning tuning(request, console, *place, std::move(log), std::move(appender), seconds);
  SVOD_TRY(const std::vector<Tuned> all, tuning.run(builds));
  const Document document = describe(all, path);
  SVOD_CHECK(console.print(request.flags.json ? toJson(document) : toText(document, styleOf(console))));
  return 0;
}

}  // namespace svod
