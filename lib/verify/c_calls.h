// Functions of C files as the interpreter calls them: compiled anew without optimizations, each call in a process of
// its own, so that a function that crashes, or writes beyond its result, ends in an error.
#pragma once
#include "driver/compile.h"
#include "interp/interp.h"

namespace svod {

using CustomFunctions = std::map<std::string, CustomFunction, std::less<>>;

/// By the names of the model's Custom nodes. Errors: those of the compiler and the linker; Unsupported where the plan
/// is for another architecture.
Result<CustomFunctions> isolatedFunctions(const Model& model, const CompileOptions& options);

}  // namespace svod
