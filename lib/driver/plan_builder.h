// From a schedule and its compiled kernels to a plan.
#pragma once
#include <string>
#include <vector>

#include "ir/model.h"
#include "linearize/linear.h"
#include "plan/memory_plan.h"
#include "plan/plan.h"
#include "schedule/schedule.h"

namespace svod {

/// What the plan says about kernel i of the schedule.
struct KernelFacts {
  const LinearKernel* linear = nullptr;
  UOp ast;           // Kernel stage, for the estimates
  std::string opts;  // as text
};

struct PlanOptions {
  std::string name;
  TargetRecord target;
  MemoryMode memory = MemoryMode::Arena;
  bool hasCode = true;  // false: kernels stand in a file of kind Source
};

/// The plan without its files. Constants lie in file 1 (weights) as `weights` lays them out; kernels in file 0.
Result<Plan> buildPlan(const Model& model, const Schedule& schedule, std::span<const KernelFacts> kernels,
                       const PlanOptions& options, class WeightsLayout& weights);

}  // namespace svod
