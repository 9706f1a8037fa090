#include "tune_actions.h"

#include <algorithm>
#include <filesystem>

#include "data/atomic_write.h"
#include "driver/tuned_opts.h"
#include "print.h"
#include "tune/budget.h"
#include "tune/kernels.h"
#include "tune/units.h"
#include "tune_graphs.h"
#include "tune_settings.h"

namespace svod {

namespace {

namespace fs = std::filesystem;

Status checkPlan(const Request& request) {
  const Flags& flags = request.flags;
  if (request.files.size() < 2 || flags.work.empty() || flags.work == "-")
    return fail(Diag::Usage, "svodc tune plan needs GRAPH.. -o WORK", "WORK is a folder that all machines see");
  if (std::ranges::find(request.files, "-") != request.files.end())
    return fail(Diag::Usage, "a graph from stdin is on no other machine", "write it to a file");
  if (!flags.tuningLog.empty() || !flags.unit.empty())
    return fail(Diag::Usage, "svodc tune plan takes no --tuning-log and no --unit",
                "each unit has logs in WORK, and svodc log merge WORK puts them into one");
  if (flags.units < 0)
    return fail(Diag::Usage, "--units needs a number of at least 0, not " + std::to_string(flags.units),
                "0, or leaving it out, makes one for each kernel and each graph");
  if (flags.search == "none")
    return fail(Diag::Usage, "--search none leaves units nothing to do", "leave it out, or say --search kernels");
  if (flags.search == "priced")
    return fail(Diag::Usage, "--search priced is for one machine: no unit of it measures",
                "svodc tune GRAPH.. --tuning-log FILE --search priced");
  return checkTuning(request);
}

}  // namespace

Result<int> planWork(const Request& request, Console& console) {
  SVOD_CHECK(checkPlan(request));
  const std::string& folder = request.flags.work;
  SVOD_CHECK(checkWorkFolder(folder));
  TuneWork work;
  SVOD_TRY(work.seconds, parseSeconds(request.flags.budget));
  SVOD_TRY(const SearchKind wanted, searchOf(request.flags));
  Request graphs = request;
  graphs.files.erase(graphs.files.begin());
  SVOD_TRY(std::unique_ptr<Workplace> place, Workplace::make(request));
  SVOD_TRY(const GraphFiles compiled, buildAll(graphs, console, *place));
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return fail(ioError("cannot create", folder, problem.value()));
  work.directory = fs::proximate(fs::current_path(), fs::canonical(folder)).string();
  Flags flags = request.flags;
  flags.decideFrom.clear(), flags.decide = linesOf(askedOf(compiled.graphs.front()));  // what the file says
  work.graphs = graphs.files, work.settings = plannedSettings(flags);
  work.target = tuningTarget(compiled.graphs.front().usual.options), work.compiler = tuningCompiler();
  for (const BuildResult& build : compiled.compiles)
    for (const std::string& file : build.filesRead) {
      SVOD_TRY(work.files[file], hashOfFile(file));
    }
  const std::vector<TuneKernel> kernels = kernelsToTune(compiled.graphs);
  const std::vector<UnitPart> toPlan = wanted.wantsDecisions ? graphsToTune(compiled.graphs) : std::vector<UnitPart>();
  work.units = unitsOf(kernels, toPlan, request.flags.units, work);
  SVOD_CHECK(request.interrupts->place([&] { return writeFileAtomic(folder + "/plan.json", toText(work)); }));
  const size_t count = work.units.size();
  const FactList facts = {{"work", "work", folder},
                          {"units", "units", count},
                          {"kernels", "kernels", kernels.size()},
                          {"graphs", "graphs with decisions to look for", toPlan.size()},
                          {"seconds", "time of a unit", Cell(work.seconds, clockText(work.seconds))},
                          {"array", "array", count == 0 ? "empty" : "0-" + std::to_string(count - 1)},
                          {"next", "each part runs", "svodc tune run " + folder + " --unit auto"}};
  const Document document{"", {{"", "Tuning work", {facts}}}};
  SVOD_CHECK(printDocument(document, request, console));
  return 0;
}

}  // namespace svod
