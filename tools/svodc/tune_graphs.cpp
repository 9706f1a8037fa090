#include "tune_graphs.h"

#include <algorithm>
#include <array>

#include "c_calls.h"
#include "driver/tuned_opts.h"
#include "driver/tuned_plan.h"
#include "machine/host.h"
#include "measure/code.h"
#include "options.h"
#include "processors.h"
#include "search/plan_search.h"
#include "support/suggest.h"

namespace svod {

namespace {

struct NumberRange {
  std::string_view flag;
  int64_t Flags::* member;
  int64_t least, most;
};
constexpr NumberRange kNumbers[] = {
    {"beam", &Flags::beam, 0, 1000},
    {"compile-seconds", &Flags::compileSeconds, 1, 3600},
    {"most-instructions", &Flags::mostInstructions, 1, 1000000},
    {"most-of-least", &Flags::mostOfLeast, 1, 1000000000},
    {"stop-above", &Flags::stopAbove, 1, 1000000},
    {"least-gain", &Flags::leastGain, 0, 99},
    {"threads", &Flags::threads, 0, 256},
    {"variables-at", &Flags::variablesAt, 0, 100},
};

struct ChoiceOf {
  std::string_view flag;
  std::string Flags::* member;
  std::array<std::string_view, 2> choices;
};
constexpr ChoiceOf kChoices[] = {
    {"caches", &Flags::caches, {"warm", "cold"}},
    {"same-code", &Flags::sameCode, {"skip", "time"}},
};

constexpr SearchKind kSearchKinds[] = {{"all", true, true}, {"kernels", true, false}, {"none", false, false}};

}  // namespace

Result<SearchKind> searchOf(const Flags& flags) {
  std::vector<std::string_view> names;
  for (const SearchKind& kind : kSearchKinds) names.push_back(kind.name);
  const auto found = std::ranges::find(kSearchKinds, flags.search, &SearchKind::name);
  if (found == std::end(kSearchKinds))
    return fail(Diag::Usage, "there is no search for '" + flags.search + "'", choicesFor(flags.search, names));
  return *found;
}

Status checkTuning(const Request& request) {
  const Flags& flags = request.flags;
  if (const std::string_view asked = !flags.opts.empty()   ? "opts"
                                     : flags.optLevel != 1 ? "opt-level"
                                                           : "";
      !asked.empty())
    return fail(Diag::Usage, "svodc tune looks for opts itself", "leave " + sourceOf(request, asked) + " out");
  SVOD_CHECK(checkOneProcessor(flags, "a measurement", "tune for each; compile takes the log for all of them"));
  if (flags.target != "cpu")
    return fail(Diag::Unsupported, "target " + flags.target + " cannot be measured here",
                "leave " + sourceOf(request, "target") + " out, to tune for target cpu");
  for (const ChoiceOf& row : kChoices)
    if (const std::string& value = flags.*row.member; std::ranges::find(row.choices, value) == row.choices.end())
      return fail(Diag::Usage, sourceOf(request, row.flag) + " cannot be '" + value + "'",
                  choicesFor(value, row.choices));
  for (const NumberRange& range : kNumbers)
    if (const int64_t value = flags.*range.member; value < range.least || value > range.most)
      return fail(Diag::Usage,
                  sourceOf(request, range.flag) + " needs a number from " + std::to_string(range.least) + " to " +
                      std::to_string(range.most) + ", not " + std::to_string(value),
                  "svodc tune --help says what it is");
  return {};
}

void keepKernels(Request& request, const Workplace& place) {
  request.flags.cacheDir = place.directory.file("kernels"), request.flags.noCache = false;
  request.flags.cacheLimit = int64_t{1} << 12;
}

Result<std::deque<BuildResult>> buildAll(const Request& request, Console& console, Workplace& place) {
  std::deque<BuildResult> builds;
  for (const std::string& graph : request.files) {
    Request one = request;
    one.files = {graph}, one.flags.tuningLog.clear();
    keepKernels(one, place);
    SVOD_TRY(BuildResult build, buildGraph(one, console, place, false));
    builds.push_back(std::move(build));
  }
  return builds;
}

Status checkMachine(const std::deque<BuildResult>& builds, const Flags& flags) {
  SVOD_TRY(const CpuTarget here, makeCpuTarget("", "native"));
  for (const BuildResult& build : builds) {
    SVOD_CHECK(checkAllowed(build.options, flags, "svodc tune"));
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

Status recordGraphs(const std::deque<BuildResult>& builds, const Request& request, TuningLog& log,
                    LogAppender& appender) {
  for (size_t i = 0; i < builds.size(); ++i) {
    const BuildResult& build = builds[i];
    const auto& asked = build.options.decisions.values;
    const GraphRecord graph{graphHash(build.model),
                            graphName(request.files[i]),
                            tuningTarget(build.options),
                            tuningCompiler(),
                            linesOf(Asked(asked.begin(), asked.end())),
                            launchesOf(*build.compilation)};
    if (graph.launches.empty() || std::ranges::find(log.graphs, graph) != log.graphs.end()) continue;
    SVOD_CHECK(appender.append(graph));
    log.graphs.push_back(graph);
  }
  return {};
}

int threadsOf(const Flags& flags) { return flags.threads == 0 ? hostCores() : static_cast<int>(flags.threads); }

TunePlace placeOf(const std::deque<BuildResult>& builds, const Request& request) {
  const Flags& flags = request.flags;
  std::string machine = machineText();  // what was measured in another way is another machine
  if (threadsOf(flags) > 1) machine += ", " + std::to_string(threadsOf(flags)) + " threads";
  if (flags.caches == "cold") machine += ", cold caches";
  if (flags.variablesAt != kMiddle) machine += ", variables at " + std::to_string(flags.variablesAt) + " %";
  const bool isBound = hostCores() < hostProcessors();
  const std::string planMachine =
      machine + (isBound ? ", on " + std::to_string(hostCores()) + " of the processors" : "");
  return {tuningTarget(builds.front().options), machine, tuningCompiler(), planMachine, flags.decide};
}

}  // namespace svod
