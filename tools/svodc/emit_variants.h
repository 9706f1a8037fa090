// Function multiversioning: a plan with code for several processors as one object that dispatches when it is called.
#pragma once
#include "emit.h"

namespace svod {

/// Kernels that are equal are there once. Errors: CompileFailed; Unsupported for objects that cannot be joined.
Result<std::string> objectOfVariants(const EmitSource& from, const Interface& made,
                                     std::span<const std::span<const std::byte>> weights);

}  // namespace svod
