// Which target each kernel of a plan for several targets is compiled for.
#pragma once
#include <vector>

#include "driver/compile.h"

namespace svod {

/// The options of a compile as its targets see them: the plan's own first, then one for each other target of a device.
std::vector<CompileOptions> optionsByTarget(const CompileOptions& options);

/// The processor of the code that the host runs; null where no target is for one.
const CpuTarget* hostProcessor(const CompileOptions& options);

/// Devices of the plan with their kinds, the host first, and where launches run whose operands are on none of them.
struct PlanDevices {
  Rows<DeviceDesc> table;
  DeviceId usual;
};
PlanDevices planDevices(const Model& model, const CompileOptions& options);

/// By kernel of the schedule, an index of optionsByTarget: that of the device its launches run on. Kernels that run on
/// devices of several targets are split into one for each, and launches name the one for their device.
Result<std::vector<size_t>> assignTargets(const Model& model, Schedule& schedule, const CompileOptions& options);

}  // namespace svod
