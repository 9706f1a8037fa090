// Why kernels are as they are, and how fast: predicted, and measured by an earlier run.
#pragma once
#include "build.h"
#include "report/profile_file.h"

namespace svod {

KernelInsight insightOf(const CompiledKernel& kernel, const CompileOptions& options, const BuildResult& build,
                        const Measurements& profile);
/// Of a kernel of which only the plan is known.
KernelInsight insightOf(const KernelDesc& kernel, const Measurements& profile);

/// Of the machine that is compiled for; nothing of targets that are no processor.
CoreLimits coreLimitsOf(const BuildResult& build);

}  // namespace svod
