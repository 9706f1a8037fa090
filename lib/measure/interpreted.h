// What the interpreter says that a kernel computes.
#pragma once
#include "driver/compile.h"
#include "measure/run_candidate.h"

namespace svod {

/// Where the interpreter says of a result nearly what `data.wanted` has, its values stand there afterwards: errors are
/// told from them. Variables have their measuredValue(). Kernels of more than about two million steps, and those
/// that it cannot run, are left as they are. Whether it ran.
bool preferInterpreted(const CompiledKernel& kernel, KernelData& data, int variablesAt);

}  // namespace svod
