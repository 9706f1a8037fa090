#include "tune_actions.h"

#include <algorithm>
#include <filesystem>

#include "print.h"
#include "support/suggest.h"
#include "tune/array.h"
#include "tune/logs.h"
#include "tune/status.h"
#include "tune/unit_run.h"
#include "tune_graphs.h"
#include "tune_progress.h"
#include "tune_settings.h"
#include "tune_text.h"
#include "tuning_log.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

/// Flags that the plan of the work fixes are refused.
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

/// The graphs as they were planned, compiled from where they were planned.
Result<Request> plannedRequest(const Request& request, const TuneWork& work, const std::string& folder) {
  Request planned = request;
  planned.files = work.graphs;
  SVOD_CHECK(takeSettings(work, planned.flags));
  planned.flags.jobs = request.flags.jobs;
  SVOD_TRY(const std::string place, checkedPlace(work, folder));
  std::error_code problem;
  fs::current_path(place, problem);
  if (problem) return fail(ioError("cannot enter", place, problem.value()));
  return planned;
}

Result<bool> compilesAhead(const std::string& phase) {
  constexpr std::string_view kPhases[] = {"all", "compile"};
  if (std::ranges::find(kPhases, phase) == std::end(kPhases))
    return fail(Diag::Usage, "there is no phase '" + phase + "'", choicesFor(phase, kPhases));
  return phase == "compile";
}

}  // namespace

Result<int> runUnit(const Request& request, Console& console) {
  SVOD_CHECK(checkRun(request));
  SVOD_TRY(const bool isAhead, compilesAhead(request.flags.phase));
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
  if (!isAhead) SVOD_CHECK(checkMachine(files.graphs, request.flags));
  const UnitRun run{folder, unit, files.graphs, tuneOptions(planned.flags), work.seconds, place->directory.file("")};
  SVOD_CHECK(checkCompiled(work, run));
  SVOD_TRY(TuningLog known, readLogs(folder, warningsOf(console)));
  const auto begun = [&] {
    request.interrupts->says("interrupted; the log of this attempt has all that was measured",
                             "run the unit again to go on");
  };
  SVOD_TRY(Document document,
           isAhead ? compileUnit(run, known) : measureUnit(run, known, begun, progressOn(console, form)));
  SVOD_CHECK(console.print(tuneText(std::move(document), request, console)));
  return 0;
}

Result<int> showWork(const Request& request, Console& console) {
  if (request.files.size() != 2)
    return fail(Diag::Usage, "svodc tune status needs WORK", "the folder that svodc tune plan wrote");
  SVOD_TRY(const TuneWork work, readTuneWork(request.files[1]));
  SVOD_TRY(const Document document, statusOf(work, request.files[1], warningsOf(console)));
  SVOD_CHECK(printDocument(document, request, console));
  return 0;
}

}  // namespace svod
