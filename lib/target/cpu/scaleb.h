// Floats times powers of two in the instruction x86 has for that.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "machine/cpu.h"

namespace svod {

/// x * 2^floor(n), rounded once, for floats or vectors of floats of one type, n finite or NaN. Null where `cpu` has
/// no such instruction.
llvm::Value* emitScaleb(llvm::IRBuilder<>& builder, const CpuTarget& cpu, llvm::Value* x, llvm::Value* n);

}  // namespace svod
