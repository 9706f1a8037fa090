// What the functions of an embedded plan are made of in LLVM IR: memory, sizes, loops, and launches on the threads of
// the caller (an internal header of the room).
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "embed/interface.h"

namespace svod {

/// As the header numbers them.
enum class RunCode : uint32_t { Ok, BadVariable, BadMemory, BadValues, BadProcessor };

/// Emits at the end of the function that was started last. Weights and the functions that share a launch are in the
/// module once, whoever made them.
class DriverBuilder {
 public:
  DriverBuilder(llvm::Module& module, const Plan& plan, const Interface& made);

 protected:
  /// The constant array, unless the caller gives the weights.
  void emitWeights(std::span<const std::span<const std::byte>> chunks);

  /// A function that others see; its arguments are known by what they are from here on. `result` is i32
  /// unless it says otherwise.
  llvm::Function* startFunction(const std::string& name, std::span<const Parameter> parameters,
                                llvm::Type* result = nullptr);
  llvm::BasicBlock* block(llvm::Function* function, const char* name) {
    return llvm::BasicBlock::Create(module_.getContext(), name, function);
  }
  llvm::BasicBlock* block(const char* name) { return block(b_.GetInsertBlock()->getParent(), name); }

  llvm::Value* number(int64_t value) { return llvm::ConstantInt::getSigned(i64_, value); }
  llvm::Value* code(RunCode code) { return b_.getInt32(static_cast<uint32_t>(code)); }
  /// An expression whose range is known: nothing overflows, no divisor is 0.
  llvm::Value* expr(const Expr& e, std::span<llvm::Value* const> values);
  llvm::Value* expr(const Expr& e) { return expr(e, variables_); }
  /// Whether all sizes of a case are in their ranges.
  llvm::Value* holds(const LaunchCase& one);
  /// Bytes as functions of memory take them.
  llvm::Value* size(llvm::Value* bytes) { return b_.CreateZExtOrTrunc(bytes, b_.getIntPtrTy(module_.getDataLayout())); }
  llvm::Value* at(llvm::Value* base, uint64_t offset) {
    return offset == 0 ? base : b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset);
  }
  llvm::Value* pointer(BufferId id);
  /// Finds where the units of the arena begin, for the values of the variables: to be called before pointer().
  void layOut();
  /// The beginning of the unit behind the last one.
  llvm::Value* endOfUnits() { return begins_.back(); }
  llvm::Value* scratch();

  void failIf(llvm::Value* condition, llvm::Value* result);
  void failIf(llvm::Value* condition, RunCode as) { failIf(condition, code(as)); }
  void checkMemory(llvm::Value* memory);
  /// Memory of the program's that every run needs.
  void checkGiven(const Parameter& p);
  /// A tensor without elements at these sizes may be null.
  void checkElements(const Parameter& p);
  /// A loop over 0, 1, .. count - 1, which ends early where the byte at `condition` is 0.
  void counted(llvm::Value* count, const BufferId* condition, const std::function<void(llvm::Value*)>& body);

  /// Runs the tiles of a launch on the threads of the caller, where there are some: (kernel, buffers, values, tiles,
  /// scratch, threads, task).
  llvm::Function* shareFunction();

  const Plan& plan_;
  const Interface& made_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Type *const i32_, *const i64_;
  llvm::PointerType* const ptr_;
  llvm::FunctionType *const kernelType_, *const partType_;
  llvm::StructType *const taskType_, *const threadsType_;
  std::vector<llvm::Value*> variables_, inputs_, outputs_;
  std::vector<llvm::Value*> begins_;  // by unit, in bytes; one without units
  llvm::Value *arena_ = nullptr, *states_ = nullptr, *weights_ = nullptr, *threads_ = nullptr;

 private:
  llvm::Value* inArena(llvm::Value* bytes);
  llvm::Value* operation(ExprOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* isInexact(llvm::Value* a, llvm::Value* b, bool above);
  llvm::Function* internal(const char* name, llvm::FunctionType* type);
  llvm::Function* partFunction();
  llvm::Value* tensor(const Parameter& p);
  void checkThreads();
};

}  // namespace svod
