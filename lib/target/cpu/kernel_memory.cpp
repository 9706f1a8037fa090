// Addresses, loads and stores of a kernel.
#include <algorithm>
#include <bit>

#include "ir/multiple_of.h"
#include "target/cpu/elementwise.h"
#include "target/cpu/kernel_emitter.h"

namespace svod {

bool isContiguous(UOp index) {
  index = behindAliases(index);
  return index.lanes() == 1 || index.src(1).op() == Op::Ramp;
}

// How many elements ahead a load from here prefetches; 0 for none.
int64_t prefetchedBy(UOp index) {
  for (UOp at = index; at.op() == Op::Index || at.op() == Op::After || at.op() == Op::Prefetch; at = at.src(0))
    if (at.op() == Op::Prefetch) return at.argAs<SlotArg>().slot;
  return 0;
}

// No `inbounds`: the address of a guarded access may lie anywhere.
Result<llvm::Value*> KernelEmitter::emitIndex(UOp node) {
  if (node.srcCount() != 2) return refuse(node, "addresses must have one flat index");
  if (tiles_.holdsSums(storageOf(node))) return nullptr;
  llvm::Type* element = builder_.getIntNTy(static_cast<unsigned>(byteSize(storageOf(node).dtype())) * 8);
  const bool isFromFirst = node.src(1).op() == Op::Ramp || node.src(1).op() == Op::Rows;
  UOp at = isFromFirst ? node.src(1).src(0) : node.src(1);
  return builder_.CreateGEP(element, value(node.src(0)), at.isScalar() ? asI64(at) : value(at));
}

Result<llvm::Value*> KernelEmitter::emitLoad(UOp node) {
  UOp index = node.src(0);
  if (tiles_.holdsSums(storageOf(index))) return tiles_.asLanes(node);
  if (tiles_.isFactor(node)) {
    tiles_.loadFactor(node, value(index));
    return nullptr;
  }
  const int lanes = node.lanes();
  llvm::Type* type = llvmMemoryType(context_, node.dtype(), lanes);
  const bool isBool = node.dtype() == DType::Bool;
  llvm::Value* loaded = nullptr;
  const int64_t elements = prefetchedBy(index);
  if (elements > 0 && isContiguous(index)) prefetch(index, elements);
  if (node.srcCount() == 1) {
    loaded = isContiguous(index) ? loadPlain(index, type) : loadMasked(index, type, nullptr, nullptr);
  } else {
    if (node.srcCount() != 3) return refuse(node, "a guarded load needs a value and a gate");
    if (node.src(2).lanes() > lanes) return refuse(node, "the gate has more lanes than the load");
    llvm::Value* alternative = value(node.src(1), lanes);
    if (isBool) alternative = builder_.CreateZExt(alternative, type);
    if (isContiguous(index) && node.src(2).lanes() == 1) {
      llvm::Value* gate = value(node.src(2));
      auto* access = builder_.CreateAlignedLoad(type, addressOrZeros(index, gate, type), alignmentOf(index));
      loaded = builder_.CreateSelect(gate, tag(access, index), alternative);
    } else {
      loaded = loadMasked(index, type, value(node.src(2), lanes), alternative);
    }
  }
  return isBool ? builder_.CreateICmpNE(loaded, llvm::Constant::getNullValue(type)) : loaded;
}

void KernelEmitter::prefetch(UOp index, int64_t elements) {
  llvm::Value* bytes = builder_.getInt64(static_cast<uint64_t>(elements * byteSize(storageOf(index).dtype())));
  llvm::Value* ahead = builder_.CreateGEP(builder_.getInt8Ty(), value(index), bytes);  // may lie beyond the buffer
  llvm::Value *isRead = builder_.getInt32(0), *nearest = builder_.getInt32(3), *isData = builder_.getInt32(1);
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()}, {ahead, isRead, nearest, isData});
}

llvm::Value* KernelEmitter::loadPlain(UOp index, llvm::Type* type) {
  return tag(builder_.CreateAlignedLoad(type, value(index), alignmentOf(index)), index);
}

// A null mask reads all lanes.
llvm::Value* KernelEmitter::loadMasked(UOp index, llvm::Type* type, llvm::Value* mask, llvm::Value* alternative) {
  auto* access = isContiguous(index)
                     ? builder_.CreateMaskedLoad(type, value(index), alignmentOf(index), mask, alternative)
                     : builder_.CreateMaskedGather(type, value(index), alignmentOf(index), mask, alternative);
  return tag(access, index);
}

// Where the gate is closed the load reads zeros kept beside the code: cheaper than a branch, and the loop
// body stays one block that can be scheduled as a whole.
llvm::Value* KernelEmitter::addressOrZeros(UOp index, llvm::Value* gate, llvm::Type* type) {
  const uint64_t bytes = module_.getDataLayout().getTypeAllocSize(type);
  const std::string name = "svod.zeros" + std::to_string(bytes);
  llvm::GlobalVariable* zeros = module_.getNamedGlobal(name);
  if (zeros == nullptr) {
    auto* array = llvm::ArrayType::get(builder_.getInt8Ty(), bytes);
    zeros = new llvm::GlobalVariable(module_, array, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                     llvm::Constant::getNullValue(array), name);
    zeros->setAlignment(llvm::Align(64));
  }
  return builder_.CreateSelect(gate, value(index), zeros);
}

Status KernelEmitter::emitStore(UOp node) {
  UOp index = node.src(0);
  if (tiles_.holdsSums(storageOf(index))) {
    if (!tiles_.storeSums(node)) return refuse(node, "sums of tiles begin with zeros");
    return {};
  }
  const int lanes = index.lanes();
  if (node.src(1).lanes() > lanes) return refuse(node, "the value has more lanes than the address");
  llvm::Value* stored = value(node.src(1), lanes);
  if (node.src(1).dtype() == DType::Bool)
    stored = builder_.CreateZExt(stored, llvmMemoryType(context_, DType::Bool, lanes));
  const bool gated = node.srcCount() == 3;
  if (gated && node.src(2).lanes() > lanes) return refuse(node, "the gate has more lanes than the address");
  if (!gated && isContiguous(index) && mayStream(index, stored->getType())) {
    streams_.push_back({index, stored});
    return {};
  }
  emitStreams();
  if (!isContiguous(index) || (gated && node.src(2).lanes() > 1)) {
    storeMasked(index, stored, gated ? value(node.src(2), lanes) : nullptr);
    return {};
  }
  llvm::BasicBlock* join = nullptr;
  if (gated) {
    auto* then = llvm::BasicBlock::Create(context_, "store", function_);
    join = llvm::BasicBlock::Create(context_, "join", function_);
    builder_.CreateCondBr(value(node.src(2)), then, join);
    builder_.SetInsertPoint(then);
  }
  tag(builder_.CreateAlignedStore(stored, value(index), alignmentOf(index)), index);
  if (gated) {
    builder_.CreateBr(join);
    builder_.SetInsertPoint(join);
  }
  return {};
}

// A whole vector at a multiple of its length from where the output begins.
bool KernelEmitter::mayStream(UOp index, llvm::Type* type) const {
  UOp storage = storageOf(index);
  bool streams = storage.op() == Op::Param && storage.argAs<SlotArg>().space == Space::Stream;
  const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(type);
  UOp first = index.src(1).op() == Op::Ramp ? index.src(1).src(0) : index.src(1);
  return streams && bytes >= 16 && std::has_single_bit(bytes) && multipleOf(first) % index.lanes() == 0;
}

// Where the memory of the caller begins is known only by a run: one test for stores that follow each other, so that
// what computes them stays one block, then whole vectors go past the caches. What is longer than a line is several
// stores, which lie in lines of their own.
void KernelEmitter::emitStreams() {
  if (streams_.empty()) return;
  constexpr uint64_t kLine = 64;
  const auto aligned = [&](const Streamed& s) {
    return llvm::Align(std::min<uint64_t>(module_.getDataLayout().getTypeStoreSize(s.stored->getType()), kLine));
  };
  llvm::Value* misaligned = nullptr;
  {
    const llvm::IRBuilderBase::InsertPointGuard restore(builder_);
    builder_.SetInsertPoint(entryEnd_);
    for (const Streamed& s : streams_) {
      llvm::Value* begin = builder_.CreatePtrToInt(value(storageOf(s.index)), builder_.getInt64Ty());
      llvm::Value* rest = builder_.CreateAnd(begin, aligned(s).value() - 1);
      misaligned = misaligned == nullptr ? rest : builder_.CreateOr(misaligned, rest);
    }
    misaligned = builder_.CreateIsNotNull(misaligned);
  }
  auto* stream = llvm::BasicBlock::Create(context_, "stream", function_);
  auto* plain = llvm::BasicBlock::Create(context_, "plain", function_);
  auto* join = llvm::BasicBlock::Create(context_, "join", function_);
  builder_.CreateCondBr(misaligned, plain, stream);
  builder_.SetInsertPoint(stream);
  auto* isPast = llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(builder_.getInt32(1)));
  for (const Streamed& s : streams_) {
    auto* past = builder_.CreateAlignedStore(s.stored, value(s.index), aligned(s));
    past->setMetadata(llvm::LLVMContext::MD_nontemporal, isPast);
    tag(past, s.index);
  }
  builder_.CreateBr(join);
  builder_.SetInsertPoint(plain);
  for (const Streamed& s : streams_)
    tag(builder_.CreateAlignedStore(s.stored, value(s.index), alignmentOf(s.index)), s.index);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  streams_.clear();
  needsFence_ = true;
}

void KernelEmitter::storeMasked(UOp index, llvm::Value* stored, llvm::Value* mask) {
  tag(isContiguous(index) ? builder_.CreateMaskedStore(stored, value(index), alignmentOf(index), mask)
                          : builder_.CreateMaskedScatter(stored, value(index), alignmentOf(index), mask),
      index);
}

llvm::Instruction* KernelEmitter::tag(llvm::Instruction* access, UOp index) {
  const Storage& storage = storages_.at(storageOf(index).id());
  if (storage.scope != nullptr) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, storage.scope);
    access->setMetadata(llvm::LLVMContext::MD_noalias, storage.others);
  }
  return access;
}

llvm::Align KernelEmitter::alignmentOf(UOp index) const {
  return llvm::Align(static_cast<uint64_t>(byteSize(storageOf(index).dtype())));
}

}  // namespace svod
