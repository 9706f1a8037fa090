// Runs a schedule step by step with the interpreter: what the plan must compute, without code generation.
#pragma once
#include "interp/interp.h"
#include "schedule/schedule.h"

namespace svod {

/// Contents of every port after one run, by Model::ports. `transform` may replace a kernel's graph before it runs
/// (optimized or lowered); null runs the kernels as scheduled.
using KernelTransform = std::function<Result<UOp>(const Kernel& kernel)>;
Result<std::vector<HostTensor>> interpretSchedule(const Model& model, const Schedule& schedule,
                                                  const ModelBindings& bindings, const KernelTransform& transform = {});

}  // namespace svod
