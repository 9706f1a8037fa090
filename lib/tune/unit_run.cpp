#include "tune/unit_run.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "data/sha256.h"
#include "driver/tuned_plan.h"
#include "tune/ahead.h"
#include "tune/report.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

/// Of a file or folder that is not where the plan leads to.
Error outOfPlace(Error error, const TuneWork& work, const std::string& from) {
  return std::move(error)
      .withNote("the plan has its files in " + from + ", which is " + work.directory +
                " seen from the folder of the work")
      .withHelp("move them along with that folder, or plan again: equal units keep what was measured");
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

/// Whether time ran out before anything was measured. What is known, or cannot be measured, takes none.
bool isStarved(const std::vector<Tuned>& kernels, const std::vector<TunedGraph>& graphs) {
  const auto isCut = [](const auto& part) { return part.result.isCut; };
  const auto isMeasured = [](const auto& part) { return part.result.measured > 0; };
  return (std::ranges::any_of(kernels, isCut) || std::ranges::any_of(graphs, isCut)) &&
         std::ranges::none_of(kernels, isMeasured) && std::ranges::none_of(graphs, isMeasured);
}

TuneSettings settingsOf(const UnitRun& run) {
  return {run.options, placeOf(run.all.front(), run.options), run.code, codeFolder(run.folder, run.unit),
          afterSeconds(TuneClock::now(), run.seconds)};
}

/// Also of another machine that does the same.
std::string writerName(const UnitRun& run) {
  const auto now = TuneClock::now().time_since_epoch().count();
  return sha256Hex(run.code + machineText() + std::to_string(now)).substr(0, 12);
}

}  // namespace

Result<std::string> checkedPlace(const TuneWork& work, const std::string& folder) {
  std::error_code problem;
  const fs::path from = fs::canonical(fs::path(folder) / work.directory, problem);
  if (!problem && !fs::is_directory(from)) problem = std::make_error_code(std::errc::not_a_directory);
  if (problem) {
    const std::string named = (fs::path(folder) / work.directory).lexically_normal().string();
    return fail(outOfPlace(ioError("cannot enter", named, problem.value()), work, named));
  }
  for (const auto& [file, hash] : work.files) {
    Result<std::string> found = hashOfFile((from / file).string());
    if (!found) return fail(outOfPlace(std::move(found).error(), work, from.string()));
    if (*found != hash)
      return fail(Diag::Mismatch, "'" + file + "' is not what it was when the work was planned",
                  "plan it again: units that are the same keep what was measured");
  }
  return from.string();
}

Status checkCompiled(const TuneWork& work, const UnitRun& run) {
  const TunePlace here = placeOf(run.all.front(), run.options);
  if (work.compiler != here.compiler)
    return fail(Diag::Mismatch, "the work was planned by another svodc",
                "use the same one on all machines, or plan again");
  if (work.target != here.target)
    return fail(Diag::Mismatch, "the work is for " + work.target + ", and this machine compiles for " + here.target,
                "plan with --cpu NAME, or run it on such machines");
  return {};
}

Result<Document> measureUnit(const UnitRun& run, TuningLog& known, const std::function<void()>& begun,
                             TuneProgress::Shows shows) {
  SVOD_TRY(const std::vector<TuneKernel> kernels, kernelsOf(run.unit, run.all));
  SVOD_TRY(const std::vector<TuneGraph*> graphs, graphsOf(run.unit, run.all));
  const TuneSettings settings = settingsOf(run);
  SVOD_TRY(const std::string path, claimAttempt(run.folder, run.unit));
  SVOD_TRY(LogAppender appender, LogAppender::open(path));
  SVOD_CHECK(recordGraphs(run.all, known, appender));
  begun();
  TuneProgress progress(settings.deadline, std::move(shows));
  progress.begin(kernels);
  TuneSettings first = settings;
  if (!graphs.empty()) first.deadline = afterSeconds(TuneClock::now(), kPartOfKernels * run.seconds);
  TuneResult result;
  SVOD_TRY(result.kernels, tuneInTurns(kernels, known, appender, first, progress));
  if (!graphs.empty()) progress.decisions();
  SVOD_TRY(result.graphs, tuneDecisions(graphs, known, appender, settings, progress));
  progress.end();
  if (isStarved(result.kernels, result.graphs))
    return fail(Diag::Interrupted, "the time of the unit ended before anything was measured: it is not done",
                "plan with a greater --budget, or run fewer units at once on a machine");
  SVOD_CHECK(markDone(run.folder, run.unit, path));
  return describe(result, path);
}

Result<Document> compileUnit(const UnitRun& run, const TuningLog& known) {
  SVOD_TRY(const std::vector<TuneKernel> kernels, kernelsOf(run.unit, run.all));
  return compileAhead(kernels, known, settingsOf(run), writerName(run));
}

}  // namespace svod
