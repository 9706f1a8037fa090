// Copies of weights to devices, which are no steps: weights are on every device.
#pragma once
#include <vector>

#include "ir/model.h"
#include "schedule/schedule.h"

namespace svod {

/// By buffer of a schedule: the one of the weight that it holds all the time, itself or what copies took there, or -1.
/// What is looked into by views, or by the host at the ends of runs and iterations, has a place of its own.
std::vector<int> weightsHeld(const Model& model, const Schedule& schedule);

}  // namespace svod
