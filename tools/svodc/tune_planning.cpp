#include <algorithm>
#include <filesystem>

#include "data/atomic_write.h"
#include "driver/tuned_opts.h"
#include "driver/tuned_plan.h"
#include "options.h"
#include "tune/budget.h"
#include "tune/kernels.h"
#include "tune_graphs.h"
#include "tune_units.h"
#include "tune_work.h"

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
  return checkTuning(request);
}

/// A new folder, an empty one, or one that svodc tune plan wrote.
Status checkFolder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) return {};
  if (fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)) return {};
  const Result<TuneWork> before = readTuneWork(folder);
  if (before) return {};
  return fail(
      Error(Diag::Io, "'" + folder + "' is there, and no folder of tuning work", "name another one, or remove it")
          .withNote(before.error()->message));
}

/// Those whose decisions can be looked for, equal ones once.
std::vector<UnitPart> graphsToTune(const std::deque<TuneGraph>& all, const std::vector<std::string>& files) {
  std::vector<UnitPart> graphs;
  for (size_t i = 0; i < all.size(); ++i) {
    const BuiltGraph& build = all[i].usual;
    if (!build.options.devices.empty() || build.compilation->kernels.empty()) continue;
    std::string hash = graphHash(build.model);
    if (std::ranges::find(graphs, hash, &UnitPart::hash) == graphs.end()) graphs.push_back({std::move(hash), files[i]});
  }
  return graphs;
}

}  // namespace

Result<int> planWork(const Request& request, Console& console) {
  SVOD_CHECK(checkPlan(request));
  const std::string& folder = request.flags.work;
  SVOD_CHECK(checkFolder(folder));
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
  work.graphs = graphs.files, work.flags = request.flags;
  work.flags.decideFrom.clear(), work.flags.decide.clear();  // what the file says, in place of its name
  work.flags.decide = linesOf(askedOf(compiled.graphs.front()));
  work.target = tuningTarget(compiled.graphs.front().usual.options), work.compiler = tuningCompiler();
  for (const BuildResult& build : compiled.compiles)
    for (const std::string& file : build.filesRead) {
      SVOD_TRY(work.files[file], hashOfFile(file));
    }
  const std::vector<TuneKernel> kernels = kernelsToTune(compiled.graphs);
  const std::vector<UnitPart> toPlan =
      wanted.wantsDecisions ? graphsToTune(compiled.graphs, graphs.files) : std::vector<UnitPart>();
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
