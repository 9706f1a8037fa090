// What the compiler asks of a target whose kernels run as a grid of workgroups. The folder of such a target has these
// functions, and a row of kTargets (driver/targets.cpp) names them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "facts/caps.h"
#include "linearize/linear.h"
#include "lower/legalize.h"
#include "plan/plan.h"
#include "support/result.h"

namespace svod {

/// A kernel to write down. Attributes of its launches may be added to `desc`.
struct GridKernel {
  Graph& graph;  // of `linear`
  const LinearKernel& linear;
  KernelDesc& desc;  // its grid is known
  const Machine& machine;
};

/// A file of the plan, with what a device needs to load it.
struct ImageFile {
  std::string path;
  ImageTarget needs;
  std::string bytes;
};

// A target NAME has in namespace svod::NAME
//   Result<Machine> machine(std::string_view triple, std::string_view processor);   as Target::machine
//   Caps caps(const Machine&, Numerics);
//   LegalizeOptions legal(const Machine&, Numerics);
//   Result<std::string> emit(const GridKernel&);         the code of one kernel, which is kept; called in parallel
//   Result<ImageFile> image(const std::string& kernel, std::string code, const Machine&);   the file of one kernel

}  // namespace svod
