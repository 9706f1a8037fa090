// Arithmetic on values that are already LLVM values.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "ir/uop.h"
#include "machine/cpu.h"

namespace svod {

/// The LLVM type of a value of `dtype`: bool is i1, Index is i64. Null for dtypes that exist in memory only.
llvm::Type* llvmType(llvm::LLVMContext& context, DType dtype, int lanes);
/// The type of the same value in memory: bool is a byte.
llvm::Type* llvmMemoryType(llvm::LLVMContext& context, DType dtype, int lanes);

/// The result of the elementwise `node` on `operands`, which have the lanes of the node. Null when the op
/// with these dtypes is not one that targets emit.
llvm::Value* emitElementwise(llvm::IRBuilder<>& builder, const CpuTarget& cpu, UOp node,
                             llvm::ArrayRef<llvm::Value*> operands);

/// One step of a reduction by Add, Mul, Max or Min on values of `dtype`. Null for another op.
llvm::Value* emitCombine(llvm::IRBuilder<>& builder, Op op, DType dtype, llvm::Value* a, llvm::Value* b);

}  // namespace svod
