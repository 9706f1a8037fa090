#include "tune_graphs.h"

#include "driver/tuned_opts.h"

namespace svod {

Status checkTuning(const Request& request) {
  const Flags& flags = request.flags;
  if (!flags.opts.empty() || flags.optLevel != 1)
    return fail(Diag::Usage, "svodc tune looks for opts itself", "leave --opts and -O out");
  if (flags.target != "cpu")
    return fail(Diag::Unsupported, "target " + flags.target + " cannot be measured here", "tune for target cpu");
  if (flags.beam < 0 || flags.beam > 1000)
    return fail(Diag::Usage, "--beam needs a number of lists from 0 to 1000, not " + std::to_string(flags.beam),
                "0, or leaving it out, begins with what the strategies make");
  return {};
}

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

Status checkMachine(const std::deque<BuildResult>& builds) {
  SVOD_TRY(const CpuTarget here, makeCpuTarget("", "native"));
  for (const BuildResult& build : builds) {
    const auto& wanted = std::get<CpuTarget>(build.options.machine);
    if (wanted.triple != here.triple)
      return fail(Diag::Unsupported, "code for " + wanted.triple + " does not run here", "tune on such a machine");
    for (const std::string& feature : wanted.features)
      if (!here.has(feature))
        return fail(Diag::Unsupported, "this processor has no " + feature + ", which " + wanted.name + " has",
                    "tune on such a machine, or for this one");
  }
  return {};
}

TunePlace placeOf(const std::deque<BuildResult>& builds, const Request& request) {
  return {tuningTarget(builds.front().options), machineText(), tuningCompiler(), request.flags.decide};
}

}  // namespace svod
