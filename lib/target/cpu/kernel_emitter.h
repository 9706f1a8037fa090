// Emits one LinearKernel: walks the list once, keeping the LLVM value of every node in a table by node id.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>

#include "linearize/linear.h"
#include "machine/cpu.h"
#include "support/result.h"
#include "target/cpu/tiles.h"

namespace svod {

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const LinearKernel& kernel, const CpuTarget& cpu);
  Status run();

 private:
  struct Loop {
    UOp range;
    llvm::BasicBlock *body, *exit;
    llvm::PHINode* counter;
    llvm::Value* end;
  };
  /// Who owns the memory an address points into, for alias information.
  struct Storage {
    DType dtype;
    llvm::MDNode *scope = nullptr, *others = nullptr;
  };

  /// A store past the caches that waits for others beside it.
  struct Streamed {
    UOp index;
    llvm::Value* stored;
  };

  void startFunction();
  void layOutLocals();
  void makeScopes();

  /// Null and no error for nodes without a value (stores, ends).
  Result<llvm::Value*> emit(UOp node);
  Result<llvm::Value*> emitParam(UOp node);
  Result<llvm::Value*> emitVariable(UOp node);
  Result<llvm::Value*> emitBuffer(UOp node);
  llvm::Value* allocate(llvm::Type* type, const llvm::Twine& name);
  llvm::Value* emitConst(UOp node);
  llvm::Value* emitStack(UOp node);
  llvm::Value* emitShuffle(UOp node);
  llvm::Value* widened(UOp stack, UOp vector, size_t lanes);
  llvm::Value* emitRamp(UOp node);
  Result<llvm::Value*> emitLaneFold(UOp node);
  Result<llvm::Value*> emitArithmetic(UOp node);
  llvm::Value* openLoop(UOp range);
  Status closeLoops(UOp end);
  llvm::MDNode* turnsOf(UOp range);

  // kernel_memory.cpp
  Result<llvm::Value*> emitIndex(UOp node);
  Result<llvm::Value*> emitLoad(UOp node);
  Status emitStore(UOp node);
  void prefetch(UOp index, int64_t elements);
  llvm::Value* loadPlain(UOp index, llvm::Type* type);
  llvm::Value* loadMasked(UOp index, llvm::Type* type, llvm::Value* mask, llvm::Value* alternative);
  void storeMasked(UOp index, llvm::Value* value, llvm::Value* mask);
  llvm::Value* addressOrZeros(UOp index, llvm::Value* gate, llvm::Type* type);
  llvm::Instruction* tag(llvm::Instruction* access, UOp index);
  llvm::Align alignmentOf(UOp index) const;
  bool mayStream(UOp index, llvm::Type* type) const;
  bool mayPassStreams(UOp node) const;
  void emitStreams();

  /// The value of `node`, repeated when it is a scalar and `lanes` says vector.
  llvm::Value* value(UOp node, int lanes);
  llvm::Value* value(UOp node) { return values_[node.id()]; }
  llvm::Value* asI64(UOp node);
  tl::unexpected<Error> refuse(UOp node, const char* why) const;

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const LinearKernel& kernel_;
  const CpuTarget& cpu_;
  llvm::IRBuilder<> builder_;
  TileEmitter tiles_;
  llvm::Function* function_ = nullptr;
  llvm::Instruction* entryEnd_ = nullptr;    // allocas go before it
  std::vector<llvm::Value*> values_;         // by node id
  std::vector<bool> isOperand_;              // by node id: used by anything but an address
  std::vector<bool> isRounded_;              // by node id: a product that becomes an f16
  std::vector<Streamed> streams_;            // in the order of the list
  bool needsFence_ = false;                  // some stores go past the caches
  std::vector<Loop> loops_;                  // open ones, outermost first
  std::map<uint32_t, int64_t> localOffset_;  // by node id of the Buffer
  std::map<uint32_t, Storage> storages_;     // by node id of the Param or Buffer
};

/// True when the index addresses consecutive elements: its LLVM value is then the address of the first.
bool isContiguous(UOp index);

}  // namespace svod
