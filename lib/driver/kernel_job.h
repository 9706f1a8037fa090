// What the passes of a kernel are told about the target.
#pragma once
#include "driver/kernel_passes.h"
#include "driver/targets.h"

namespace svod {

/// A job without what belongs to one kernel: its constants, whether it overwrites an argument, requested opts.
KernelJob kernelJob(const Target& target, const Machine& machine, Numerics numerics, int optLevel);

}  // namespace svod
