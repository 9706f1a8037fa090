// Code of a plan's kernels in forms of its own, beside the plan: --emit KIND=PATH.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "build.h"

namespace svod {

struct EmitKind {
  std::string_view name, what, extension;
  std::string CompiledKernel::* text;  // of one kernel, which becomes a file of a folder; null: one object of all
};

struct Emission {
  const EmitKind* kind = nullptr;
  std::string path;
};

/// What --emit asks for. To be called before work starts. Errors: Usage for unknown kinds, paths over other files and
/// targets without such code; Io where something else stands.
Result<std::vector<Emission>> emissionsOf(const Request& request);

/// Writes all of them. Files that hold the same bytes are left alone. Errors: Unsupported where there is no kernel for
/// an object; Io.
Status writeEmissions(std::span<const Emission> emissions, const Compilation& compilation, Linker& linker);

/// The paths of the files of one.
std::vector<std::string> filesOf(const Emission& emission, const Compilation& compilation);

}  // namespace svod
