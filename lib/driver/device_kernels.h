// Which target each kernel of a plan for several targets is compiled for.
#pragma once
#include <vector>

#include "compile/options.h"
#include "ir/model.h"
#include "schedule/schedule.h"

namespace svod {

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
