// Code of many kernels at once: a code generator that is set up once costs each of them less.
#pragma once
#include <span>
#include <string>

#include "compile/kernel.h"
#include "compile/options.h"

namespace svod {

/// One relocatable object with the functions of all of these, which were lowered (lowerWith()) for a target that has
/// Target::emitTogether, and have
/// different names. Takes their `linear`. Errors: CompileFailed.
Result<std::string> emitTogether(std::span<CompiledKernel* const> kernels, const CompileOptions& options);

/// What decides the machine code of a kernel that was lowered, but for its name: equal digits are equal code.
std::string codeHash(const CompiledKernel& kernel);

}  // namespace svod
