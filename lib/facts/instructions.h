// How large the code of a kernel will be.
#pragma once
#include "facts/kernel_facts.h"

namespace svod {

/// About as many instructions as it is lowered to: every node once for each value that opts make of it.
double instructionsOf(const KernelFacts& kernel);

}  // namespace svod
