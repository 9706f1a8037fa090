// The kinds of --emit as a table, and how each is made.
#pragma once
#include "emit.h"

namespace svod {

std::span<const EmitKind> emitKinds();

/// Those that a processor runs: the code of the others is text or images of their devices.
std::vector<const CompiledKernel*> processorKernels(const Compilation& compilation);
/// Errors: Unsupported where there is none.
Status checkHasKernels(const Compilation& compilation, std::string_view kind);

/// In pieces; none where the plan has no weights.
std::vector<std::span<const std::byte>> weightsOf(const Compilation& compilation);
std::string bytesOf(const PlanFile& file);

}  // namespace svod
