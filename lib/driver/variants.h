// Kernels for further processors of a plan and further architectures of its devices: compiled like those of the plan,
// kept where they differ.
#pragma once
#include <span>
#include <vector>

#include "compile/compilation.h"
#include "compile/options.h"
#include "driver/plan_builder.h"

namespace svod {

/// Fills Compilation::variants with copies of the kernels of their targets, by kernel, not yet compiled; of kernels
/// that came behind those that have copies, if called again.
void copyForVariants(Compilation& compilation, std::span<const CompileOptions> variants,
                     std::span<const CompileOptions> byTarget, std::span<const size_t> targetOf);

/// Adds the code of what differs from the plan and from earlier variants: to `kernels`, behind those of the plan, and
/// to the files, in a file of its own for each processor, and an image for each kernel of an architecture. Gives the
/// kernels of each. To be called when the kernels of the plan have their files, whose code `same` compared before.
Result<std::vector<PlannedVariant>> joinVariants(Compilation& compilation, std::span<const CompileOptions> options,
                                                 std::vector<PlannedKernel>& kernels);

/// What each kernel of the variants is equal to: fills CompiledVariant::same. To be called while they have their code.
void findSame(Compilation& compilation);

}  // namespace svod
