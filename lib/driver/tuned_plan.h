// What a tuning log calls a graph, and how decisions that won become those of a schedule.
#pragma once
#include <optional>
#include <string>

#include "compile/compilation.h"
#include "compile/options.h"
#include "ir/model.h"

namespace svod {

/// 32 digits of a SHA-256 over what decides which decisions there are about a graph: what it computes, its ports, and
/// how it names its values. Not over the data of its weights.
std::string graphHash(const Model& model);

/// What graph passes are told besides decisions.
ScheduleOptions scheduleOptions(const CompileOptions& options);

/// What a tuning log came to for a graph.
struct TunedDecisions {
  LogKnows known = LogKnows::NotAsked;
  std::vector<std::string> passed;  // why winners do not apply
  size_t used = 0;                  // decisions
};

/// The schedule with the first decisions of CompileOptions::tuning that can be made about this graph, or the usual
/// ones; options.decisions win over them. Otherwise as runGraphPasses() (schedule/graph_passes.h).
Result<std::optional<Schedule>> scheduleTuned(Model& model, UOp folded, const CompileOptions& options, PassLog& log,
                                              TunedDecisions& tuned);

}  // namespace svod
