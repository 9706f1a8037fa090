// LinearKernel to WGSL.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "linearize/linear.h"
#include "plan/wgsl_arguments.h"
#include "support/result.h"

namespace svod::webgpu {

struct WgslText {
  std::string text;
  int64_t sharedBytes = 0;  // of a workgroup, as the text declares them
  bool isFolded = false;    // workgroups along x may be more than an adapter counts there
};

/// A module with the function `main`, which is what one thread does; each argument is in a memory of its own
/// (wgsl_arguments.h). Thread-safe, deterministic. Fails with Verify if a kernel was not legalized, and with
/// Unsupported for what
/// WGSL does not have: quotients and roots of f64, sums of products of f64 that are kept, floats that are strict, more
/// registers than it gives.
Result<WgslText> printWgsl(const LinearKernel& kernel, std::span<const WordUse> arguments);

/// What a kernel by itself does with its arguments.
std::vector<WordUse> wordUses(const LinearKernel& kernel);

}  // namespace svod::webgpu
