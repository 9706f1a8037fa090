// Sums of products of neighbouring small numbers in the instructions CPUs have for them.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "ir/graph.h"
#include "machine/cpu.h"

namespace svod {

/// The value of a Dot node from the values of its sources: one instruction per register where `cpu` has it,
/// else widened products and sums.
llvm::Value* emitDot(llvm::IRBuilder<>& builder, const CpuTarget& cpu, UOp node, llvm::ArrayRef<llvm::Value*> in);

}  // namespace svod
