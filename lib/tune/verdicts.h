// What winners come to inside their plan, as records of the tuning log.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/plan_search.h"
#include "tune/kernels.h"
#include "tune/place.h"
#include "tune/plans_in_turns.h"
#include "tuning/log_file.h"

namespace svod {

/// A kernel of a plan that has the opts of a winner.
struct InPlan {
  std::string name, hash, opts;
};
std::vector<InPlan> winnersIn(const Compilation& compilation);

/// Of one graph. What is told goes to the appender and into the log at once; errors are those of the appender.
class PlanVerdicts {
 public:
  PlanVerdicts(TuningLog& log, LogAppender& appender, const TunePlace& place, std::string graph)
      : log_(log), appender_(appender), place_(place), graph_(std::move(graph)) {}

  /// Of each winner that the times tell something of; how many lost.
  Result<size_t> record(const std::vector<InPlan>& winners, const KernelsInPlan& times);
  /// Those that nothing was told of here or before.
  size_t untold(const std::vector<InPlan>& winners) const;
  /// They won where kernels had other opts: with the winners of all kernels the plan is not faster than that of -O1.
  Status dropDecisions(const PlanWinner& decided, const WholeTimes& times);
  /// The kernel stays as in -O1: the plan is slower with its winner, or nobody knows.
  Status dropKernel(const InPlan& winner, const std::optional<WholeTimes>& times);
  /// Where the best lost here, what was not timed in the plan is no winner either, whether opts or decisions. How many.
  Result<size_t> dropRest();
  Status recordGain(const BuiltGraph& tuned, const Asked& base, const std::optional<PlanWinner>& decided,
                    const KernelsInPlan& times);

 private:
  bool isOf(const CandidateRecord& r, const InPlan& winner) const;
  bool isChecked(const InPlan& winner) const;
  CandidateRecord recordOf(const InPlan& winner) const;
  Status add(CandidateRecord r);
  Status lose(const InPlan& winner, double ratio, const std::string& reason);
  Status loseDecisions(const PlanWinner& decided, double ratio, std::string reason);

  TuningLog& log_;
  LogAppender& appender_;
  const TunePlace& place_;
  std::string graph_;
  std::set<std::string> losers_;     // kernels
  std::optional<PlanWinner> loser_;  // decisions
};

}  // namespace svod
