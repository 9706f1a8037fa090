// What the passes of a graph and of a kernel are told about the target.
#pragma once
#include "driver/kernel_passes.h"
#include "target/target.h"
#include "tensor/graph_machine.h"

namespace svod {

/// A job without what belongs to one kernel: its constants, whether it overwrites an argument, requested opts.
KernelJob kernelJob(const Target& target, const Machine& machine, Numerics numerics, int optLevel);

/// The machine as code with these numerics uses it: NEON of ARMv7 takes subnormal floats for 0, which only Fast allows.
Machine machineFor(Machine machine, Numerics numerics);

/// What the passes over a graph may know of the machine.
GraphMachine graphMachine(const Caps& caps);

}  // namespace svod
