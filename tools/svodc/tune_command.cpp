// svodc tune GRAPH.. --tuning-log FILE, and svodc tune --explain KERNEL --tuning-log FILE
#include <algorithm>
#include <filesystem>
#include <set>

#include "driver/applied_log.h"
#include "driver/tuned_opts.h"
#include "print.h"
#include "report/tuning_page.h"
#include "support/suggest.h"
#include "tune/report.h"
#include "tune/tune.h"
#include "tune_actions.h"
#include "tune_graphs.h"
#include "tune_progress.h"
#include "tune_text.h"
#include "tuning/log_file.h"
#include "tuning_log.h"

namespace svod {

namespace {

Status checkTune(const Request& request) {
  const Flags& flags = request.flags;
  if (request.files.empty())
    return fail(Diag::Usage, "svodc tune needs GRAPH.. --tuning-log FILE", "svodc tune --help");
  if (flags.tuningLog.empty() || flags.tuningLog == "-")
    return fail(Diag::Usage, "svodc tune needs --tuning-log FILE", "records are appended there, and read from there");
  if (!flags.work.empty() || !flags.unit.empty() || flags.units != 0 || flags.phase != "all")
    return fail(Diag::Usage, "--output, --unit, --units and --phase are for units of work",
                "svodc tune plan GRAPH.. -o WORK, svodc tune run WORK --unit N");
  return checkTuning(request);
}

/// Why the winners of a kernel won. Nothing is compiled: the log knows it.
Result<int> explainKernels(const Request& request, Console& console) {
  if (request.flags.tuningLog.empty() || !request.files.empty())
    return fail(Diag::Usage, "--explain needs --tuning-log FILE, and no graph",
                "svodc tune --explain KERNEL --tuning-log FILE");
  SVOD_TRY(TuningLog log, readTuningLog(request.flags.tuningLog, warningsOf(console)));
  log = appliedLog(std::move(log), tuningCompiler()).log;
  const std::string& wanted = request.flags.explain;
  Document document;
  std::set<std::string> names;
  for (const KernelAccount& account : accountsOf(log, tuningCompiler())) {
    names.insert(account.name);
    if (account.name.find(wanted) != account.name.npos || account.kernel.starts_with(wanted))
      document.sections.push_back(tunedKernel(account));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  if (document.sections.empty())
    return fail(Diag::Usage, "no kernel of '" + request.flags.tuningLog + "' is called '" + wanted + "'",
                didYouMean(wanted, known, "svodc log html draws all of them"));
  SVOD_CHECK(printDocument(document, request, console));
  return 0;
}

Result<int> tuneHere(const Request& request, Console& console) {
  SVOD_CHECK(checkTune(request));
  TuneTask task;
  task.options = tuneOptions(request.flags);
  SVOD_TRY(task.seconds, parseSeconds(request.flags.budget));
  SVOD_TRY(const ProgressForm form, progressForm(request.flags.progress));
  SVOD_TRY(const SearchKind wanted, searchOf(request.flags));
  task.wantsOpts = wanted.wantsOpts, task.wantsDecisions = wanted.wantsDecisions;
  const std::string& path = request.flags.tuningLog;
  TuningLog log;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) || !wanted.wantsOpts) {
    SVOD_TRY(log, readTuningLog(path, warningsOf(console)));
  }
  SVOD_TRY(std::unique_ptr<Workplace> place, Workplace::make(request));
  SVOD_TRY(GraphFiles files, buildAll(request, console, *place));
  SVOD_CHECK(checkMachine(files.graphs, request.flags));
  SVOD_TRY(LogAppender appender, LogAppender::open(path, waitingWith(console)));
  request.interrupts->says("interrupted; the tuning log has all that was measured", "run it again to go on");
  task.folder = place->directory.file("");
  SVOD_TRY(const TuneResult result, tune(files.graphs, log, appender, task, progressOn(console, form)));
  SVOD_CHECK(console.print(tuneText(describe(result, path), request, console)));
  return 0;
}

/// Of tuning in units, on as many machines as there are.
struct UnitAction {
  std::string_view word;
  Result<int> (*run)(const Request& request, Console& console);
};
constexpr UnitAction kActions[] = {{"plan", planWork}, {"run", runUnit}, {"status", showWork}};

}  // namespace

Result<int> runTune(const Request& request, Console& console) {
  for (const UnitAction& action : kActions)
    if (!request.files.empty() && request.files[0] == action.word) return action.run(request, console);
  if (!request.flags.explain.empty()) return explainKernels(request, console);
  return tuneHere(request, console);
}

}  // namespace svod
