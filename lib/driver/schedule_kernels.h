// From a schedule to kernels that can be compiled.
#pragma once
#include <vector>

#include "compile/kernel.h"
#include "ir/model.h"
#include "schedule/schedule.h"

namespace svod {

/// Takes the kernels out of the schedule, each in a graph of its own, and finds which of their arguments are weights in
/// every launch.
std::vector<CompiledKernel> kernelsOf(const Model& model, Schedule& schedule);

}  // namespace svod
