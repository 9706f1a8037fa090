#include "tune_work.h"

#include <algorithm>
#include <filesystem>

#include "data/sha256.h"
#include "driver/tuned_plan.h"
#include "options.h"
#include "support/suggest.h"
#include "tune/ahead.h"
#include "tune/array.h"
#include "tune/report.h"
#include "tune/tune.h"
#include "tune_graphs.h"
#include "tune_progress.h"
#include "tune_text.h"
#include "tune_units.h"
#include "tuning_log.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

/// What the plan says is not said again.
Status checkRun(const Request& request) {
  if (request.files.size() != 2 || request.flags.unit.empty())
    return fail(Diag::Usage, "svodc tune run needs WORK --unit N|auto", "svodc tune status WORK lists the units");
  Flags presets;
  setDefaults(presets);
  for (const FlagInfo& row : allFlags()) {
    if ((row.commands & Tune) == 0 || row.changes == Changes::Nothing) continue;
    if (std::visit([&](auto member) { return request.flags.*member == presets.*member; }, row.member)) continue;
    return fail(Diag::Usage, "svodc tune run has --" + std::string(row.name) + " from the plan",
                row.env.empty() ? "leave it out" : "leave it and " + std::string(row.env) + " out");
  }
  return {};
}

/// Of a file or folder that is not where the plan leads to.
Error outOfPlace(Error error, const TuneWork& work, const std::string& from) {
  return std::move(error)
      .withNote("the plan has its files in " + from + ", which is " + work.directory +
                " seen from the folder of the work")
      .withHelp("move them along with that folder, or plan again: equal units keep what was measured");
}

/// The graphs as they were planned, compiled from where they were planned.
Result<Request> plannedRequest(const Request& request, const TuneWork& work, const std::string& folder) {
  std::error_code problem;
  fs::current_path(fs::path(folder) / work.directory, problem);
  if (problem) {
    const std::string from = (fs::path(folder) / work.directory).lexically_normal().string();
    return fail(outOfPlace(ioError("cannot enter", from, problem.value()), work, from));
  }
  const fs::path from = fs::current_path();
  for (const auto& [file, hash] : work.files) {
    Result<std::string> found = hashOfFile((from / file).string());
    if (!found) return fail(outOfPlace(std::move(found).error(), work, from.string()));
    if (*found != hash)
      return fail(Diag::Mismatch, "'" + file + "' is not what it was when the work was planned",
                  "plan it again: units that are the same keep what was measured");
  }
  Request planned = request;
  planned.files = work.graphs;
  planned.flags = work.flags;
  planned.flags.jobs = request.flags.jobs;
  return planned;
}

/// Those of the unit, of all that were compiled.
Result<std::vector<TuneKernel>> kernelsOf(const TuneUnit& unit, const std::deque<TuneGraph>& graphs) {
  std::vector<TuneKernel> kernels = kernelsToTune(graphs), chosen;
  for (const UnitPart& wanted : unit.kernels) {
    const auto found = std::ranges::find(kernels, wanted.hash, &TuneKernel::hash);
    if (found == kernels.end())
      return fail(Diag::Mismatch, "kernel " + wanted.name + " of the plan is not among those of the graphs",
                  "plan the work again");
    chosen.push_back(*found);
  }
  return chosen;
}

/// Its graphs among those that were compiled.
Result<std::vector<TuneGraph*>> graphsOf(const TuneUnit& unit, std::deque<TuneGraph>& graphs) {
  std::vector<TuneGraph*> chosen;
  for (const UnitPart& wanted : unit.graphs) {
    const auto found =
        std::ranges::find(graphs, wanted.hash, [](const TuneGraph& graph) { return graphHash(graph.usual.model); });
    if (found == graphs.end())
      return fail(Diag::Mismatch, "graph " + wanted.name + " of the plan is not among the graphs",
                  "plan the work again");
    chosen.push_back(&*found);
  }
  return chosen;
}

Status checkPlace(const TuneWork& work, const TunePlace& here) {
  if (work.compiler != here.compiler)
    return fail(Diag::Mismatch, "the work was planned by another svodc",
                "use the same one on all machines, or plan again");
  if (work.target != here.target)
    return fail(Diag::Mismatch, "the work is for " + work.target + ", and this machine compiles for " + here.target,
                "plan with --cpu NAME, or run it on such machines");
  return {};
}

/// A unit on this machine.
struct UnitJob {
  const Request& request;
  Console& console;
  const std::string& folder;
  const TuneUnit& unit;
  const std::deque<TuneGraph>& all;
  const std::vector<TuneKernel>& kernels;
  const std::vector<TuneGraph*>& graphs;  // of the unit
  double seconds;
  TuningLog& known;
  const TuneSettings& settings;
  ProgressForm form;
};

/// Also of another machine that does the same.
std::string writerName(const UnitJob& job) {
  return sha256Hex(job.settings.folder + machineText() + std::to_string(TuneClock::now().time_since_epoch().count()))
      .substr(0, 12);
}

Result<Document> compileUnit(const UnitJob& job) {
  return compileAhead(job.kernels, job.known, job.settings, writerName(job));
}

/// Whether time ran out before anything was measured. What is known, or cannot be measured, takes none.
bool isStarved(const std::vector<Tuned>& kernels, const std::vector<TunedGraph>& graphs) {
  const auto isCut = [](const auto& part) { return part.result.isCut; };
  const auto isMeasured = [](const auto& part) { return part.result.measured > 0; };
  return (std::ranges::any_of(kernels, isCut) || std::ranges::any_of(graphs, isCut)) &&
         std::ranges::none_of(kernels, isMeasured) && std::ranges::none_of(graphs, isMeasured);
}

Result<Document> measureUnit(const UnitJob& job) {
  SVOD_TRY(const std::string path, claimAttempt(job.folder, job.unit));
  SVOD_TRY(LogAppender appender, LogAppender::open(path));
  SVOD_CHECK(recordGraphs(job.all, job.known, appender));
  job.request.interrupts->says("interrupted; the log of this attempt has all that was measured",
                               "run the unit again to go on");
  TuneProgress progress(job.settings.deadline, progressOn(job.console, job.form));
  progress.begin(job.kernels);
  TuneSettings settings = job.settings;
  if (!job.graphs.empty()) settings.deadline = afterSeconds(TuneClock::now(), kPartOfKernels * job.seconds);
  SVOD_TRY(const std::vector<Tuned> all, tuneInTurns(job.kernels, job.known, appender, settings, progress));
  if (!job.graphs.empty()) progress.decisions();
  SVOD_TRY(const std::vector<TunedGraph> graphs,
           tuneDecisions(job.graphs, job.known, appender, job.settings, progress));
  progress.end();
  if (isStarved(all, graphs))
    return fail(Diag::Interrupted, "the time of the unit ended before anything was measured: it is not done",
                "plan with a greater --budget, or run fewer units at once on a machine");
  SVOD_CHECK(markDone(job.folder, job.unit, path));
  return describe({all, graphs, {}}, path);
}

struct Phase {
  std::string_view name;
  bool isAhead;
  Result<Document> (*run)(const UnitJob& job);
};
constexpr Phase kPhases[] = {{"all", false, measureUnit}, {"compile", true, compileUnit}};

Result<Phase> phaseOf(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Phase& phase : kPhases) names.push_back(phase.name);
  const auto found = std::ranges::find(kPhases, name, &Phase::name);
  if (found == std::end(kPhases)) return fail(Diag::Usage, "there is no phase '" + name + "'", choicesFor(name, names));
  return *found;
}

Result<int> runUnit(const Request& request, Console& console) {
  SVOD_CHECK(checkRun(request));
  SVOD_TRY(const Phase phase, phaseOf(request.flags.phase));
  SVOD_TRY(const ProgressForm form, progressForm(request.flags.progress));
  SVOD_TRY(const int64_t number, unitNumber(request.flags.unit, request.environment.forTools));
  const std::string folder = fs::absolute(request.files[1]).lexically_normal().string();
  SVOD_TRY(const TuneWork work, readTuneWork(folder));
  if (number >= static_cast<int64_t>(work.units.size()))
    return fail(Diag::Usage,
                "there is no unit " + std::to_string(number) + ", the work has " + std::to_string(work.units.size()),
                "units are counted from 0");
  const TuneUnit& unit = work.units[static_cast<size_t>(number)];
  if (stateOf(folder, unit) == UnitState::Done) {
    SVOD_CHECK(console.print("unit " + std::to_string(number) + " is done\n"));
    return 0;
  }
  SVOD_TRY(const Request planned, plannedRequest(request, work, folder));
  SVOD_TRY(std::unique_ptr<Workplace> place, Workplace::make(planned));
  SVOD_TRY(GraphFiles files, buildAll(planned, console, *place));
  if (!phase.isAhead) SVOD_CHECK(checkMachine(files.graphs, request.flags));
  const TuneOptions options = tuneOptions(planned.flags);
  const TunePlace here = placeOf(files.graphs.front(), options);
  SVOD_CHECK(checkPlace(work, here));
  SVOD_TRY(const std::vector<TuneKernel> kernels, kernelsOf(unit, files.graphs));
  SVOD_TRY(const std::vector<TuneGraph*> graphs, graphsOf(unit, files.graphs));
  SVOD_TRY(TuningLog known, readLogs(folder, console));
  const TuneSettings settings{options, here, place->directory.file(""), codeFolder(folder, unit),
                              afterSeconds(TuneClock::now(), work.seconds)};
  SVOD_TRY(Document document, phase.run({request, console, folder, unit, files.graphs, kernels, graphs, work.seconds,
                                         known, settings, form}));
  SVOD_CHECK(console.print(tuneText(std::move(document), request, console)));
  return 0;
}

constexpr UnitAction kActions[] = {{"plan", planWork}, {"run", runUnit}, {"status", showWork}};

}  // namespace

const UnitAction* unitActionOf(const Request& request) {
  const auto found =
      request.files.empty() ? std::end(kActions) : std::ranges::find(kActions, request.files[0], &UnitAction::name);
  return found == std::end(kActions) ? nullptr : &*found;
}

}  // namespace svod
