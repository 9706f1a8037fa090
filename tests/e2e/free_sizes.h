// Sizes at which a plan of free sizes is looked at, what it is given there, and the kernels it can be made to run.
#pragma once
#include <vector>

#include "e2e/plan_run.h"
#include "interp/interp.h"

namespace svod {

/// The least sizes of all variables, the greatest, the likely ones, and some of: sizes beside those, primes, around
/// tiles, and where a case of a launch begins or ends.
std::vector<VariableValues> pointsOf(const Model& model, const Plan& plan, uint64_t seed);

/// Inputs at these sizes. States and weights start as the model says.
ModelBindings bindingsAt(const Model& model, const VariableValues& point, uint64_t seed, bool isSpecial);

/// The plan as it is; without cases of launches; and with each case of a launch in front of the others.
std::vector<PlanImage> forced(const PlanImage& image);

/// Other small elements for every weight.
void fillWeights(Model& model, uint64_t seed);

}  // namespace svod
