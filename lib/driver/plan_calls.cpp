#include "driver/plan_calls.h"

namespace svod {

Result<HostCall> hostCallOf(const ScheduleItem& item, const PlanVariables& variables) {
  HostCall call{item.function, {}, {}};
  for (size_t i = 0; i < item.args.size(); ++i) {
    HostArg arg{static_cast<BufferId>(item.args[i]), item.writes[i] ? Mode::Write : Mode::Read, {}};
    for (UOp dim : item.shapes[i]) {
      SVOD_TRY(Expr extent, variables.expr(dim));
      arg.shape.push_back(std::move(extent));
    }
    call.args.push_back(std::move(arg));
  }
  for (UOp v : item.values) {
    SVOD_TRY(Expr value, variables.expr(v));
    call.values.push_back(std::move(value));
  }
  return call;
}

Result<std::vector<Expr>> functionValues(const ScheduleItem& item, const PlanVariables& variables) {
  SVOD_TRY(HostCall call, hostCallOf(item, variables));
  for (const HostArg& arg : call.args) {
    Expr elements = 1;
    for (const Expr& extent : arg.shape) elements = elements * extent;
    call.values.push_back(std::move(elements));
  }
  return std::move(call.values);
}

}  // namespace svod
