#include "target/cpu/kernel_emitter.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "ir/likely.h"
#include "ir/local_memory.h"
#include "ir/text.h"
#include "target/cpu/dot.h"
#include "target/cpu/elementwise.h"

namespace svod {

namespace {

enum Argument : unsigned { kBuffers, kValues, kTileBegin, kTileEnd, kScratch };
constexpr const char* kArgumentNames[] = {"buffers", "values", "tile_begin", "tile_end", "scratch"};

llvm::FastMathFlags flagsOf(Numerics numerics) {
  llvm::FastMathFlags flags;
  if (numerics != Numerics::Strict) flags.setAllowContract(true);
  if (numerics == Numerics::Fast) {
    flags.setNoSignedZeros(true);
    flags.setAllowReciprocal(true);
    flags.setApproxFunc(true);
  }
  return flags;
}

bool isLocal(UOp node) { return node.op() == Op::Buffer && node.argAs<SlotArg>().space == Space::Local; }

}  // namespace

KernelEmitter::KernelEmitter(llvm::Module& module, const LinearKernel& kernel, const CpuTarget& cpu)
    : module_(module), context_(module.getContext()), kernel_(kernel), cpu_(cpu), builder_(context_),
      tiles_(builder_, kernel, [this](llvm::Type* type) { return allocate(type, "tile"); }) {
  uint32_t largest = 0;
  for (UOp node : kernel.ops) largest = std::max(largest, node.id());
  values_.resize(largest + 1);
  isOperand_.resize(largest + 1);
  isRounded_.resize(largest + 1);
  for (UOp node : kernel.ops)
    for (UOp source : node.src()) isOperand_[source.id()] = isOperand_[source.id()] || node.op() != Op::Index;
  for (UOp node : kernel.ops)
    if (node.op() == Op::Cast && node.dtype() == DType::F16) isRounded_[node.src(0).id()] = true;
  builder_.setFastMathFlags(flagsOf(kernel.numerics));
}

Status KernelEmitter::run() {
  if (module_.getFunction(kernel_.name) != nullptr)
    return fail(Diag::CompileFailed, "internal error: two kernels are named '" + kernel_.name + "'");
  if (!tiles_.registers().suffice())
    return fail(Diag::CompileFailed, "internal error in kernel '" + kernel_.name + "': too many tiles at once");
  startFunction();
  layOutLocals();
  makeScopes();
  for (UOp node : kernel_.ops) {
    const bool isAddress = node.op() == Op::Param || node.op() == Op::Index;
    if (!isAddress && node.dtype() != DType::Void && llvmType(context_, node.dtype(), 1) == nullptr)
      return refuse(node, "its dtype has no register form");
    if (node.dtype() == DType::BF16 && node.op() != Op::Bitcast) return refuse(node, "only dot products take bf16");
    if (!mayPassStreams(node)) emitStreams();
    SVOD_TRY(values_[node.id()], emit(node));
  }
  emitStreams();
  if (!loops_.empty())
    return fail(Diag::CompileFailed, "internal error in kernel '" + kernel_.name + "': a loop is not closed");
  if (needsFence_) builder_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);  // before others may read
  if (tiles_.registers().areUsed()) tiles_.finish();
  builder_.CreateRetVoid();
  return {};
}

// Whether it may come before stores past the caches that stand before it in the list: it neither reads what they write
// nor opens or closes a loop. Stores see to that themselves.
bool KernelEmitter::mayPassStreams(UOp node) const {
  if (node.op() == Op::Range || node.op() == Op::End) return false;
  const UOp storage = node.op() == Op::Load ? storageOf(node.src(0)) : UOp();
  return !storage || storage.op() != Op::Param || std::ranges::none_of(kernel_.params, [&](const KernelParam& p) {
    return p.param && p.param.argAs<SlotArg>().slot == storage.argAs<SlotArg>().slot && (p.inPlace || p.written);
  });
}

void KernelEmitter::startFunction() {
  llvm::Type *pointer = builder_.getPtrTy(), *i64 = builder_.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, i64, i64, pointer}, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kernel_.name, module_);
  for (llvm::Argument& argument : function_->args()) argument.setName(kArgumentNames[argument.getArgNo()]);
  for (const unsigned argument : {kBuffers, kValues}) function_->addParamAttr(argument, llvm::Attribute::ReadOnly);
  for (const unsigned argument : {kBuffers, kValues, kScratch})
    function_->addParamAttr(argument, llvm::Attribute::NoAlias);
  function_->addParamAttr(kScratch, llvm::Attribute::getWithAlignment(context_, llvm::Align(kLocalAlignment)));
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr("no-builtins");
  function_->addFnAttr("no-trapping-math", "true");
  function_->addFnAttr("frame-pointer", "none");

  auto* entry = llvm::BasicBlock::Create(context_, "entry", function_);
  auto* start = llvm::BasicBlock::Create(context_, "start", function_);
  entryEnd_ = llvm::BranchInst::Create(start, entry);
  builder_.SetInsertPoint(start);
  if (tiles_.registers().areUsed()) tiles_.start();
}

// The layout behind LinearKernel::scratchBytes.
void KernelEmitter::layOutLocals() {
  std::vector<UOp> locals;
  std::copy_if(kernel_.ops.begin(), kernel_.ops.end(), std::back_inserter(locals), isLocal);
  for (const auto& [local, offset] : placesOf(std::move(locals))) localOffset_[local.id()] = offset;
}

// One alias scope per argument buffer and scratch buffer: an access to one never touches another. Where the result may
// be written in place, it shares a scope with these operands.
void KernelEmitter::makeScopes() {
  llvm::MDBuilder metadata(context_);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(kernel_.name);
  const bool inPlace = std::ranges::any_of(kernel_.params, &KernelParam::inPlace);
  llvm::MDNode* common = nullptr;
  std::vector<Storage*> shared;
  std::vector<llvm::Metadata*> scopeOf, scopes;  // by storage; all different ones
  for (UOp node : kernel_.ops) {
    if (node.op() != Op::Param && node.op() != Op::Buffer) continue;
    Storage& storage = storages_[node.id()] = {node.dtype()};
    if (node.op() == Op::Buffer && !isLocal(node)) continue;
    shared.push_back(&storage);
    const auto isSame = [&](const KernelParam& p) {
      const bool isIt =
          node.op() == Op::Param && p.param && p.param.argAs<SlotArg>().slot == node.argAs<SlotArg>().slot;
      return isIt && (p.inPlace || p.written);
    };
    const bool isCommon = inPlace && std::ranges::any_of(kernel_.params, isSame);
    llvm::MDNode* scope = isCommon && common ? common : metadata.createAnonymousAliasScope(domain);
    if (isCommon) common = scope;
    scopeOf.push_back(scope);
    if (std::ranges::find(scopes, scopeOf.back()) == scopes.end()) scopes.push_back(scope);
  }
  if (scopes.size() < 2) return;
  for (size_t i = 0; i < shared.size(); ++i) {
    std::vector<llvm::Metadata*> others = scopes;
    std::erase(others, scopeOf[i]);
    shared[i]->scope = llvm::MDNode::get(context_, {scopeOf[i]});
    shared[i]->others = llvm::MDNode::get(context_, others);
  }
}

Result<llvm::Value*> KernelEmitter::emit(UOp node) {
  switch (node.op()) {
    case Op::Sink:
    case Op::Group: return nullptr;
    case Op::Const: return emitConst(node);
    case Op::Param: return emitParam(node);
    case Op::Var: return emitVariable(node);
    case Op::Buffer: return emitBuffer(node);
    case Op::After:
    case Op::Prefetch: return value(node.src(0));
    case Op::Index: return emitIndex(node);
    case Op::Load: return emitLoad(node);
    case Op::Store: SVOD_CHECK(emitStore(node)); return nullptr;
    case Op::Range: return openLoop(node);
    case Op::End: SVOD_CHECK(closeLoops(node)); return nullptr;
    case Op::Stack: return emitStack(node);
    case Op::Ramp:  // contiguous addresses need its start only
      return isOperand_[node.id()] ? emitRamp(node) : nullptr;
    case Op::Rows: return nullptr;
    case Op::Lane:
      return node.src(0).lanes() == 1 ? value(node.src(0))
                                      : builder_.CreateExtractElement(value(node.src(0)), node.argAs<SlotArg>().slot);
    case Op::Reduce: return emitLaneFold(node);
    case Op::Dot: return emitDot(builder_, cpu_, node, {value(node.src(0)), value(node.src(1)), value(node.src(2))});
    case Op::TileDot: return tiles_.multiply(node);
    default: return emitArithmetic(node);
  }
}

Result<llvm::Value*> KernelEmitter::emitArithmetic(UOp node) {
  llvm::Value* result = nullptr;
  if (isElementwise(node.op())) {
    llvm::SmallVector<llvm::Value*, 3> operands;
    for (UOp source : node.src()) operands.push_back(value(source, node.lanes()));
    // LLVM computes such a product in f16 and would fuse that with a sum, which the rounding is to prevent.
    llvm::IRBuilderBase::FastMathFlagGuard keep(builder_);
    if (isRounded_[node.id()]) builder_.getFastMathFlags().setAllowContract(false);
    result = emitElementwise(builder_, cpu_, node, operands);
  }
  if (result == nullptr && node.op() == Op::Mulacc)
    return fail(Diag::Unsupported,
                "kernel '" + kernel_.name + "' fuses f64 multiply and add, which '" + cpu_.name + "' cannot",
                "choose a --cpu with FMA, such as x86-64-v3, or use separate mul and add");
  if (result == nullptr) return refuse(node, "legalization must replace it for this CPU");
  return result;
}

llvm::Value* KernelEmitter::emitConst(UOp node) {
  const Scalar constant = node.constant();
  const auto bits = static_cast<unsigned>(info(node.dtype()).bits);
  llvm::Constant* integer = builder_.getInt(llvm::APInt(bits, constant.storageBits()));
  return isFloat(node.dtype()) ? builder_.CreateBitCast(integer, llvmType(context_, node.dtype(), 1)) : integer;
}

Result<llvm::Value*> KernelEmitter::emitParam(UOp node) {
  const uint32_t slot = node.argAs<SlotArg>().slot;
  const llvm::IRBuilderBase::InsertPointGuard restore(builder_);
  builder_.SetInsertPoint(entryEnd_);
  llvm::Value* at = builder_.CreateConstGEP1_64(builder_.getPtrTy(), function_->getArg(kBuffers), slot);
  const llvm::Align aligned(cpu_.has32BitPointers() ? 4 : 8);
  auto* pointer = builder_.CreateAlignedLoad(builder_.getPtrTy(), at, aligned, "buffer" + llvm::Twine(slot));
  pointer->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return pointer;
}

Result<llvm::Value*> KernelEmitter::emitVariable(UOp node) {
  const auto found = std::find(kernel_.variables.begin(), kernel_.variables.end(), node);
  if (found == kernel_.variables.end()) return refuse(node, "the kernel does not list this variable");
  const llvm::IRBuilderBase::InsertPointGuard restore(builder_);
  builder_.SetInsertPoint(entryEnd_);
  llvm::Value* at = builder_.CreateConstGEP1_64(builder_.getInt64Ty(), function_->getArg(kValues),
                                                static_cast<uint64_t>(found - kernel_.variables.begin()));
  const std::string_view name = node.argAs<VarArg>().name;
  auto* loaded = builder_.CreateLoad(builder_.getInt64Ty(), at, llvm::StringRef(name));
  loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return builder_.CreateIntCast(loaded, llvmType(context_, node.dtype(), 1), true);
}

Result<llvm::Value*> KernelEmitter::emitBuffer(UOp node) {
  const SlotArg slot = node.argAs<SlotArg>();
  if (slot.space == Space::Global) return refuse(node, "a global buffer must be a kernel argument");
  if (slot.space == Space::Local)
    return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), function_->getArg(kScratch),
                                       static_cast<uint64_t>(localOffset_.at(node.id())));
  if (tiles_.holdsSums(node)) return nullptr;
  auto* type = llvm::ArrayType::get(llvmMemoryType(context_, node.dtype(), 1), static_cast<uint64_t>(node.maxNumel()));
  return allocate(type, "reg" + llvm::Twine(slot.slot));
}

llvm::Value* KernelEmitter::allocate(llvm::Type* type, const llvm::Twine& name) {
  const llvm::IRBuilderBase::InsertPointGuard restore(builder_);
  builder_.SetInsertPoint(entryEnd_);
  auto* memory = builder_.CreateAlloca(type, nullptr, name);
  memory->setAlignment(llvm::Align(kLocalAlignment));
  return memory;
}

// The condition is tested at the bottom; a test before the loop is left out where one iteration is certain.
llvm::Value* KernelEmitter::openLoop(UOp range) {
  const AxisArg axis = range.argAs<AxisArg>();
  const bool tiled = range == kernel_.threadRange;
  llvm::Value* begin = tiled ? function_->getArg(kTileBegin) : static_cast<llvm::Value*>(builder_.getInt64(0));
  llvm::Value* end = tiled ? function_->getArg(kTileEnd) : asI64(range.src(0));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* body = llvm::BasicBlock::Create(context_, "loop" + llvm::Twine(axis.id), function_);
  auto* exit = llvm::BasicBlock::Create(context_, "after" + llvm::Twine(axis.id));
  if (!tiled && range.src(0).bounds().min > 0)
    builder_.CreateBr(body);
  else
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, exit);
  builder_.SetInsertPoint(body);
  auto* counter = builder_.CreatePHI(builder_.getInt64Ty(), 2, "r" + llvm::Twine(axis.id));
  counter->addIncoming(begin, before);
  loops_.push_back({range, body, exit, counter, end});
  return builder_.CreateIntCast(counter, llvmType(context_, range.dtype(), 1), true);
}

/// How often a loop goes on for each time that it ends. Without it every loop counts as one of 32 turns, and registers
/// go to the nest of most loops instead of the one that runs most often.
llvm::MDNode* KernelEmitter::turnsOf(UOp range) {
  constexpr int64_t kMost = 1 << 20, kOnce = 1 << 10;
  const int64_t turns = std::clamp<int64_t>(likelySize(range.src(0)), 1, kMost);
  llvm::MDBuilder metadata(context_);
  if (turns == 1) return metadata.createBranchWeights(1, kOnce);
  return metadata.createBranchWeights(static_cast<uint32_t>(turns - 1), 1);
}

Status KernelEmitter::closeLoops(UOp end) {
  for (size_t i = end.srcCount() - 1; i > 0; --i) {
    if (loops_.empty() || loops_.back().range != end.src(i))
      return refuse(end, "it does not close the innermost open loop");
    const Loop loop = loops_.back();
    loops_.pop_back();
    llvm::Value* next = builder_.CreateAdd(loop.counter, builder_.getInt64(1), "", /*NUW=*/true, /*NSW=*/true);
    loop.counter->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, loop.end), loop.body, loop.exit, turnsOf(loop.range));
    loop.exit->insertInto(function_);
    builder_.SetInsertPoint(loop.exit);
  }
  return {};
}

llvm::Value* KernelEmitter::value(UOp node, int lanes) {
  llvm::Value* known = values_[node.id()];
  return lanes > 1 && node.lanes() == 1 ? builder_.CreateVectorSplat(static_cast<unsigned>(lanes), known) : known;
}

llvm::Value* KernelEmitter::asI64(UOp node) {
  return builder_.CreateIntCast(value(node), llvmType(context_, DType::I64, node.lanes()), isSigned(node.dtype()));
}

tl::unexpected<Error> KernelEmitter::refuse(UOp node, const char* why) const {
  return fail(Diag::CompileFailed,
              "internal error in kernel '" + kernel_.name + "': LLVM emission met `" + toLineText(node) + "`: " + why,
              "report the graph; until it is fixed, --target c may compile it");
}

}  // namespace svod
