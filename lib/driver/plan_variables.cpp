#include "driver/plan_variables.h"

#include <algorithm>

#include "target/to_expr.h"

namespace svod {

void PlanVariables::add(const VarArg& variable) {
  variables_.push_back(
      {std::string(variable.name), variable.min, variable.max, VariableKind::Free, 0, variable.likely});
  names_.emplace_back(variable.name);
  taken_.emplace(variable.name);
}

VariableId PlanVariables::enterLoop(const ScheduleLoop& loop, size_t end) {
  const auto id = static_cast<VariableId>(variables_.size());
  const int64_t last = std::max<int64_t>(0, loop.count.bounds().max - 1);
  variables_.push_back({uniqueName(loop.counter), 0, last, VariableKind::Loop, 0});
  names_.push_back(loop.counter);
  loopEnds_.emplace_back(end, names_.size() - 1);
  return id;
}

void PlanVariables::leaveLoops(size_t step) {
  while (!loopEnds_.empty() && loopEnds_.back().first == step) {
    names_[loopEnds_.back().second].clear();
    loopEnds_.pop_back();
  }
}

Result<Expr> PlanVariables::expr(UOp dim) const { return toExpr(dim, names_); }

Expr PlanVariables::named(const std::string& name) const {
  return Expr::variable(static_cast<uint32_t>(std::ranges::find(names_, name) - names_.begin()));
}

std::string PlanVariables::uniqueName(const std::string& counter) {
  std::string name = counter;
  int& last = lastOf_.try_emplace(counter, 1).first->second;
  while (taken_.contains(name)) name = counter + "." + std::to_string(++last);
  taken_.insert(name);
  return name;
}

}  // namespace svod
