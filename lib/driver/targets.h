// The targets: what code is generated for.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "support/result.h"
#include "toolchain/c_compiler.h"

namespace svod {

struct Compilation;
struct CompiledKernel;
struct CompileOptions;

struct Target {
  std::string_view name, what;
  /// Code of one kernel; called for several kernels at once.
  Status (*emitKernel)(CompiledKernel& kernel, const CompileOptions& options);
  /// Joins the kernels' code into the plan's files.
  Status (*finish)(Compilation& compilation, const CompileOptions& options);
  bool usesCpuFeatures;  // code may use what CompileOptions::cpu has beyond its architecture's baseline
};

std::span<const Target> targets();
/// Errors: Usage, with the names there are.
Result<const Target*> targetByName(std::string_view name);

}  // namespace svod
