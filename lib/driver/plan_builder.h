// From a schedule and its compiled kernels to a plan.
#pragma once
#include <string>
#include <vector>

#include "ir/model.h"
#include "plan/memory_plan.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace svod {

struct PlanOptions {
  std::string name;
  TargetRecord target;
  MemoryMode memory = MemoryMode::Arena;
};

/// The plan without its files. `kernels` are those of the schedule, by id. Constants lie in file 1 (weights) as `weights`
/// lays them out; kernels in file 0.
Result<Plan> buildPlan(const Model& model, const Schedule& schedule, std::span<const KernelDesc> kernels,
                       const PlanOptions& options, class WeightsLayout& weights);

}  // namespace svod
