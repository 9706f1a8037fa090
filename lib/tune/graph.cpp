#include "tune/graph.h"

#include <algorithm>

#include "driver/kernel_cache.h"
#include "driver/tuned_opts.h"
#include "driver/tuned_plan.h"
#include "tune/kernels.h"

namespace svod {

Result<BuiltGraph> buildTuned(const TuneGraph& graph, const Asked& asked, const TuningLog& log) {
  TuningLog kernels = log;
  kernels.plans.clear();
  BuiltGraph built{graph.usual.options, {}, nullptr};
  built.options.decisions = {};
  built.options.decisions.values.insert(asked.begin(), asked.end());
  built.options.tuning = &kernels, built.options.compiler = tuningCompiler();
  SVOD_TRY(built.model, graph.read());
  SVOD_TRY(built.compilation, compile(built.model, built.options));
  if (built.options.cache != nullptr) (void)built.options.cache->finish();  // trouble with it is no error
  built.options.tuning = nullptr;
  return built;
}

Asked askedOf(const TuneGraph& graph) {
  const auto& values = graph.usual.options.decisions.values;
  return Asked(values.begin(), values.end());
}

Status checkRunsHere(const CompileOptions& options) {
  SVOD_TRY(const CpuTarget here, makeCpuTarget("", "native"));
  const auto& wanted = std::get<CpuTarget>(options.machine);
  if (wanted.triple != here.triple)
    return fail(Diag::Unsupported, "code for " + wanted.triple + " does not run here", "tune on such a machine");
  for (const std::string& feature : wanted.features)
    if (!here.has(feature))
      return fail(Diag::Unsupported, "this processor has no " + feature + ", which " + wanted.name + " has",
                  "tune on such a machine, or for this one");
  return {};
}

Status recordGraphs(const std::deque<TuneGraph>& graphs, TuningLog& log, LogAppender& appender) {
  for (const TuneGraph& graph : graphs) {
    const GraphRecord record{graphHash(graph.usual.model),      graph.name,
                             tuningTarget(graph.usual.options), tuningCompiler(),
                             linesOf(askedOf(graph)),           launchesOf(*graph.usual.compilation)};
    if (record.launches.empty() || std::ranges::find(log.graphs, record) != log.graphs.end()) continue;
    SVOD_CHECK(appender.append(record));
    log.graphs.push_back(record);
  }
  return {};
}

}  // namespace svod
