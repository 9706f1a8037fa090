// Why kernels are as they are, and how fast: predicted, and measured by an earlier run.
#pragma once
#include <map>
#include <string>

#include "build.h"

namespace svod {

/// What a run took for one kernel, over all its calls.
struct MeasuredKernel {
  double calls = 0, busyNs = 0, flops = 0, bytes = 0;
};
using Profile = std::map<std::string, MeasuredKernel>;  // by kernel name

/// What `svod-run --json` printed; nothing for an empty path. Errors: Io, Usage when it is something else.
Result<Profile> readProfile(const std::string& path);

KernelInsight insightOf(const CompiledKernel& kernel, const BuildResult& build, const Profile& profile);
/// Of a kernel of which only the plan is known.
KernelInsight insightOf(const KernelDesc& kernel, const Profile& profile);

}  // namespace svod
