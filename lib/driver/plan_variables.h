// The variables of a plan while its steps are made, and dims as expressions over them (an internal header of the room).
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/uop.h"
#include "plan/plan.h"
#include "schedule/schedule.h"
#include "support/result.h"

namespace svod {

/// Those of the model, then a counter for each loop. Loops after each other may share the name of their counter in the
/// graph: it means that of the loop that is open, and the plan gives each a name of its own.
class PlanVariables {
 public:
  explicit PlanVariables(Rows<Variable>& variables) : variables_(variables) {}

  void add(const VarArg& variable);
  /// The counter of a loop whose steps end in front of step `end`.
  VariableId enterLoop(const ScheduleLoop& loop, size_t end);
  /// Forgets the names of counters whose loops end in front of this step.
  void leaveLoops(size_t step);

  /// Unsupported when the dim uses an op plans do not have.
  Result<Expr> expr(UOp dim) const;
  Expr named(const std::string& name) const;

 private:
  std::string uniqueName(const std::string& counter);

  Rows<Variable>& variables_;
  std::vector<std::string> names_;                   // by variable; empty for counters of loops that ended
  std::set<std::string, std::less<>> taken_;         // names in the plan
  std::map<std::string, int> lastOf_;                // by counter: the last number behind its name
  std::vector<std::pair<size_t, size_t>> loopEnds_;  // first step behind an open loop, and its variable
};

}  // namespace svod
