// Modules of LLVM as bytes, and several as one: what takes the place of a linker for objects that no linker in this
// process joins.
#pragma once
#include <span>
#include <string>

#include "toolchain/object.h"

namespace svod {

/// Adds the functions of modules to `into`, which setDataLayout() was called for. Errors: CompileFailed.
Status addBitcode(llvm::Module& into, std::span<const std::string> modules, const CpuTarget& cpu);

/// One object of modules, whose functions are all seen. Errors: CompileFailed.
Result<std::string> objectOfBitcode(std::span<const std::string> modules, const CpuTarget& cpu, OptLevel level);

}  // namespace svod
