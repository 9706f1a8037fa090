// What the code of a plan asks of a processor.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "compile/kernel.h"
#include "machine/cpu.h"

namespace svod {

/// The features of the processor without those of tile units where no kernel has tiles: a runtime asks the system for
/// tile registers, which makes signal frames larger, for a plan that needs them alone.
std::vector<std::string> neededFeatures(const CpuTarget& cpu, std::span<const CompiledKernel> kernels);

}  // namespace svod
