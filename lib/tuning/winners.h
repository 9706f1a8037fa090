// Which lists of opts a tuning log speaks for.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuning/log.h"

namespace svod {

/// A list that won wherever it was compared, and failed nowhere.
struct Winner {
  std::string kernel, target, opts;
  double ratio = 0;       // the greatest of all comparisons
  bool isHint = false;    // only other compilers made code of it
  std::string machines;   // it was compared on, separated by "; "
  bool isPriced = false;  // it was measured nowhere
};

/// The machine of records whose times are what the cost model expects. What was measured says more.
inline constexpr std::string_view kPricedMachine = "the cost model";

/// Decisions about a graph that won wherever plans made with them were compared with the baseline, and failed
/// nowhere.
struct PlanWinner {
  std::string graph, target;
  std::vector<std::string> decisions;
  double ratio = 0;  // as those of Winner, of the whole plan
  bool isHint = false;
  std::string machines;
  bool isPriced = false;
};

/// What a log has of a kernel, or of a graph.
enum class LogKnows : uint8_t {
  NotAsked,  // opts were given in another way
  Nothing,
  OtherTargets,  // records for other targets alone
  Target,        // records for this one
};
LogKnows knowledgeOf(const TuningLog& log, std::string_view kernel, std::string_view target);
LogKnows knowledgeOfPlans(const TuningLog& log, std::string_view graph, std::string_view target);

/// For one kernel and target, best first: those of this compiler, then hints; those that were measured, then
/// others; by ratio, then by length and text.
/// Depends on the records, not on their order. Who takes one has to see whether its opts apply.
std::vector<Winner> winnersOf(const TuningLog& log, std::string_view kernel, std::string_view target,
                              std::string_view compiler);

/// The first of these for every kernel and target that has one, in the order of kernels and targets.
std::vector<Winner> bestOf(const TuningLog& log, std::string_view compiler);

/// For one graph and target, best first: as for kernels.
std::vector<PlanWinner> planWinnersOf(const TuningLog& log, std::string_view graph, std::string_view target,
                                      std::string_view compiler);
std::vector<PlanWinner> bestPlansOf(const TuningLog& log, std::string_view compiler);

/// What was timed of whole graphs with the winners that the log has now, but for decisions that the graph does not
/// have: of each graph, target, machine, compiler and asked decisions the least gain. One with other winners says
/// nothing any longer.
std::vector<GainRecord> gainsOf(const TuningLog& log);

}  // namespace svod
