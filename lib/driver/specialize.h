// Kernels for some sizes of variables, beside those for all sizes.
#pragma once
#include <span>
#include <vector>

#include "driver/compile.h"

namespace svod {

/// Adds a kernel for every combination of the sizes of the variables that a kernel of the schedule depends on, some of
/// which may stay free: to Compilation::kernels, and to `targetOf`, by kernel, the target of the one that it stands in
/// for. Fills Compilation::cases, those with the most exact sizes first. Kernels with equal content are one. Errors:
/// Usage for an unknown variable, a size that it never has, or too many combinations.
Status specialize(const Model& model, Compilation& compilation, std::vector<size_t>& targetOf,
                  std::span<const Specialization> wanted);

/// Adds kernels for the sizes of Choice::cases in the same way: to those of the schedule that have no cases yet, where
/// most time is saved first, one for every kCaseKernels kernels. To be called when the kernels have their choices.
void specializeAsChosen(Compilation& compilation, std::vector<size_t>& targetOf);

}  // namespace svod
