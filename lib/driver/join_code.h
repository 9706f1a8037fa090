// Code of kernels as files of a plan.
#pragma once
#include <span>

#include "compile/compilation.h"
#include "compile/options.h"

namespace svod {

/// Adds what the target joins the code to: files, the first of which has the kernels; none where there is no code.
/// Kernels with a grid know their images then.
Status joinCode(Compilation& compilation, std::span<CompiledKernel* const> kernels,
                std::span<const FunctionObject> functions, const CompileOptions& options);

}  // namespace svod
