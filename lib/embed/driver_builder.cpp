#include "embed/driver_builder.h"

#include <algorithm>

#include "embed/fold_expr.h"

namespace svod {

namespace {
constexpr const char *kWeights = "svod_weights", *kShare = "svod_share";
}  // namespace

DriverBuilder::DriverBuilder(llvm::Module& module, const Plan& plan, const Interface& made)
    : plan_(plan), made_(made), module_(module), b_(module.getContext()), i32_(b_.getInt32Ty()), i64_(b_.getInt64Ty()),
      ptr_(b_.getPtrTy()), kernelType_(llvm::FunctionType::get(b_.getVoidTy(), {ptr_, ptr_, i64_, i64_, ptr_}, false)),
      partType_(llvm::FunctionType::get(b_.getVoidTy(), {ptr_, i64_, i64_, i32_}, false)),
      taskType_(llvm::StructType::get(module.getContext(), {ptr_, ptr_, ptr_, ptr_})),
      threadsType_(llvm::StructType::get(module.getContext(), {ptr_, i32_, ptr_})), variables_(plan.variables.size()),
      weights_(module.getNamedGlobal(kWeights)) {}

void DriverBuilder::emitWeights(std::span<const std::span<const std::byte>> chunks) {
  if (made_.weightBytes == 0 || made_.hasWeightsParameter()) return;
  std::string bytes;
  for (std::span<const std::byte> chunk : chunks)
    bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
  bytes.resize(std::max<size_t>(bytes.size(), made_.weightBytes));
  auto* content = llvm::ConstantDataArray::getString(module_.getContext(), bytes, /*AddNull=*/false);
  auto* global = new llvm::GlobalVariable(module_, content->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::InternalLinkage, content, kWeights);
  global->setAlignment(llvm::Align(kPlanAlignment));
  if (made_.weights.kind == WeightsPlace::Kind::Section) global->setSection(made_.weights.section);
  weights_ = global;
}

llvm::Function* DriverBuilder::startFunction(const std::string& name, std::span<const Parameter> parameters,
                                             llvm::Type* result) {
  std::vector<llvm::Type*> types;
  for (const Parameter& p : parameters) types.push_back(p.kind == ParameterKind::Variable ? i64_ : ptr_);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result == nullptr ? i32_ : result, types, false),
                                          llvm::GlobalValue::ExternalLinkage, name, module_);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b_.SetInsertPoint(block(function, "entry"));
  for (size_t i = 0; i < parameters.size(); i++) {
    llvm::Argument* argument = function->getArg(static_cast<unsigned>(i));
    argument->setName(parameters[i].name);
    switch (parameters[i].kind) {
      case ParameterKind::Variable: variables_[parameters[i].id] = argument; break;
      case ParameterKind::Input: inputs_.push_back(argument); break;
      case ParameterKind::Output: outputs_.push_back(argument); break;
      case ParameterKind::States: states_ = argument; break;
      case ParameterKind::Weights: weights_ = argument; break;
      case ParameterKind::Arena: arena_ = argument; break;
      case ParameterKind::Threads: threads_ = argument; break;
    }
  }
  return function;
}

void DriverBuilder::failIf(llvm::Value* condition, llvm::Value* result) {
  llvm::BasicBlock *failed = block("failed"), *next = block("next");
  b_.CreateCondBr(condition, failed, next);
  b_.SetInsertPoint(failed);
  b_.CreateRet(result);
  b_.SetInsertPoint(next);
}

void DriverBuilder::checkMemory(llvm::Value* memory) {
  auto* low = b_.CreateAnd(b_.CreatePtrToInt(memory, i64_), number(kPlanAlignment - 1));
  failIf(b_.CreateOr(b_.CreateIsNull(memory), b_.CreateIsNotNull(low)), RunCode::BadMemory);
}

void DriverBuilder::checkGiven(const Parameter& p) {
  switch (p.kind) {
    case ParameterKind::Variable: break;
    case ParameterKind::Input:
    case ParameterKind::Output:
      if (needOf(plan_, made_, p) == Need::Always) failIf(b_.CreateIsNull(tensor(p)), RunCode::BadMemory);
      break;
    case ParameterKind::States: checkMemory(states_); break;
    case ParameterKind::Weights: checkMemory(weights_); break;
    case ParameterKind::Arena:
      if (made_.arenaBytes() > 0) checkMemory(arena_);
      break;
    case ParameterKind::Threads: checkThreads(); break;
  }
}

void DriverBuilder::checkElements(const Parameter& p) {
  if (needOf(plan_, made_, p) != Need::WithElements) return;
  llvm::Value* count = expr(*elementsOf(portOf(plan_, p), made_.ranges));
  failIf(b_.CreateAnd(b_.CreateIsNull(tensor(p)), b_.CreateICmpSGT(count, number(0))), RunCode::BadMemory);
}

llvm::Value* DriverBuilder::tensor(const Parameter& p) {
  return (p.kind == ParameterKind::Input ? inputs_ : outputs_)[p.id];
}

/// Several threads come with a function that runs them.
void DriverBuilder::checkThreads() {
  llvm::BasicBlock *some = block("threads"), *next = block("next");
  b_.CreateCondBr(b_.CreateIsNull(threads_), next, some);
  b_.SetInsertPoint(some);
  llvm::Value* count = b_.CreateLoad(i32_, b_.CreateStructGEP(threadsType_, threads_, 1));
  llvm::Value* run = b_.CreateLoad(ptr_, b_.CreateStructGEP(threadsType_, threads_, 2));
  failIf(b_.CreateAnd(b_.CreateICmpSGT(count, b_.getInt32(1)), b_.CreateIsNull(run)), RunCode::BadMemory);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

llvm::Value* DriverBuilder::expr(const Expr& e, std::span<llvm::Value* const> values) {
  const auto leaf = [&](const ExprNode& node) {
    return node.op == ExprOp::Const ? number(node.value) : values[static_cast<size_t>(node.value)];
  };
  const auto combine = [&](ExprOp op, llvm::Value* a, llvm::Value* b) { return operation(op, a, b); };
  return foldExpr<llvm::Value*>(e, leaf, combine);
}

llvm::Value* DriverBuilder::holds(const LaunchCase& one) {
  llvm::Value* all = b_.getTrue();
  for (const SizeRange& range : one.when) {
    llvm::Value* value = expr(range.size);
    all = b_.CreateAnd(
        all, b_.CreateAnd(b_.CreateICmpSGE(value, number(range.min)), b_.CreateICmpSLE(value, number(range.max))));
  }
  return all;
}

llvm::Value* DriverBuilder::operation(ExprOp op, llvm::Value* a, llvm::Value* b) {
  switch (op) {
    case ExprOp::Add: return b_.CreateAdd(a, b);
    case ExprOp::Sub: return b_.CreateSub(a, b);
    case ExprOp::Mul: return b_.CreateMul(a, b);
    case ExprOp::Max: return b_.CreateSelect(b_.CreateICmpSGT(a, b), a, b);
    case ExprOp::Min: return b_.CreateSelect(b_.CreateICmpSLT(a, b), a, b);
    case ExprOp::FloorDiv: return b_.CreateSub(b_.CreateSDiv(a, b), b_.CreateZExt(isInexact(a, b, false), i64_));
    case ExprOp::CeilDiv: return b_.CreateAdd(b_.CreateSDiv(a, b), b_.CreateZExt(isInexact(a, b, true), i64_));
    default: return b_.CreateAdd(b_.CreateSRem(a, b), b_.CreateSelect(isInexact(a, b, false), b, number(0)));
  }
}

/// Whether the quotient has a remainder and is above 0, or below.
llvm::Value* DriverBuilder::isInexact(llvm::Value* a, llvm::Value* b, bool above) {
  llvm::Value* signs = b_.CreateICmpSLT(b_.CreateXor(a, b), number(0));
  if (above) signs = b_.CreateNot(signs);
  return b_.CreateAnd(b_.CreateIsNotNull(b_.CreateSRem(a, b)), signs);
}

llvm::Value* DriverBuilder::pointer(BufferId id) {
  const Location& where = made_.buffers[id];
  switch (where.memory) {
    case ParameterKind::Input: return at(inputs_[where.id], where.offset);
    case ParameterKind::Output: return at(outputs_[where.id], where.offset);
    case ParameterKind::States: return at(states_, where.offset);
    case ParameterKind::Weights: return at(weights_, where.offset);
    default: return at(where.unit == 0 ? arena_ : inArena(begins_[where.unit]), where.offset);
  }
}

llvm::Value* DriverBuilder::inArena(llvm::Value* bytes) { return b_.CreateInBoundsGEP(b_.getInt8Ty(), arena_, bytes); }

llvm::Value* DriverBuilder::scratch() {
  return made_.units.empty() ? at(arena_, made_.scratchOffset) : inArena(endOfUnits());
}

void DriverBuilder::layOut() {
  begins_ = {number(0)};
  for (const UnitRoom& room : made_.units) {
    while (begins_.size() <= room.end) begins_.push_back(begins_.back());
    llvm::Value* bytes = b_.CreateAnd(b_.CreateAdd(expr(room.bytes), number(kPlanAlignment - 1)),
                                      number(-static_cast<int64_t>(kPlanAlignment)));
    begins_[room.end] = operation(ExprOp::Max, begins_[room.end], b_.CreateAdd(begins_[room.begin], bytes));
  }
}

void DriverBuilder::counted(llvm::Value* count, const BufferId* condition,
                            const std::function<void(llvm::Value*)>& body) {
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("head"), *inside = block("inside"),
                   *after = block("after");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(i64_, 2);
  i->addIncoming(number(0), before);
  b_.CreateCondBr(b_.CreateICmpSLT(i, count), inside, after);
  b_.SetInsertPoint(inside);
  if (condition != nullptr) {
    llvm::BasicBlock* goesOn = block("goes.on");
    b_.CreateCondBr(b_.CreateIsNotNull(b_.CreateLoad(b_.getInt8Ty(), pointer(*condition))), goesOn, after);
    b_.SetInsertPoint(goesOn);
  }
  body(i);
  i->addIncoming(b_.CreateAdd(i, number(1)), b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
}

// ---- launches on the threads of the caller

llvm::Function* DriverBuilder::internal(const char* name, llvm::FunctionType* type) {
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b_.SetInsertPoint(block(function, "entry"));
  return function;
}

/// Runs tiles of a launch with the scratch memory of a thread.
llvm::Function* DriverBuilder::partFunction() {
  llvm::Function* part = internal("svod_part", partType_);
  llvm::Value *task = part->getArg(0), *member[4];
  for (unsigned i = 0; i < 4; i++) member[i] = b_.CreateLoad(ptr_, b_.CreateStructGEP(taskType_, task, i));
  llvm::Value* offset =
      b_.CreateMul(b_.CreateSExt(part->getArg(3), i64_), number(static_cast<int64_t>(made_.scratchBytes)));
  llvm::Value* scratch = b_.CreateInBoundsGEP(b_.getInt8Ty(), member[3], offset);
  b_.CreateCall(kernelType_, member[0], {member[1], member[2], part->getArg(1), part->getArg(2), scratch});
  b_.CreateRetVoid();
  return part;
}

llvm::Function* DriverBuilder::shareFunction() {
  if (llvm::Function* made = module_.getFunction(kShare)) return made;
  const auto resume = b_.saveIP();
  llvm::Function* part = partFunction();
  llvm::Function* share =
      internal(kShare, llvm::FunctionType::get(b_.getVoidTy(), {ptr_, ptr_, ptr_, i64_, ptr_, ptr_, ptr_}, false));
  llvm::Value *kernel = share->getArg(0), *buffers = share->getArg(1), *values = share->getArg(2),
              *tiles = share->getArg(3), *scratch = share->getArg(4), *threads = share->getArg(5),
              *task = share->getArg(6);
  llvm::BasicBlock *alone = block("alone"), *some = block("some"), *shared = block("shared");
  b_.CreateCondBr(b_.CreateOr(b_.CreateIsNull(threads), b_.CreateICmpSLT(tiles, number(2))), alone, some);
  b_.SetInsertPoint(some);
  llvm::Value* count = b_.CreateLoad(i32_, b_.CreateStructGEP(threadsType_, threads, 1));
  b_.CreateCondBr(b_.CreateICmpSLT(count, b_.getInt32(2)), alone, shared);
  b_.SetInsertPoint(alone);
  b_.CreateCall(kernelType_, kernel, {buffers, values, number(0), tiles, scratch});
  b_.CreateRetVoid();
  b_.SetInsertPoint(shared);
  llvm::Value* members[] = {kernel, buffers, values, scratch};
  for (unsigned i = 0; i < 4; i++) b_.CreateStore(members[i], b_.CreateStructGEP(taskType_, task, i));
  llvm::Value* run = b_.CreateLoad(ptr_, b_.CreateStructGEP(threadsType_, threads, 2));
  llvm::Value* user = b_.CreateLoad(ptr_, b_.CreateStructGEP(threadsType_, threads, 0));
  b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), {ptr_, i64_, ptr_, ptr_}, false), run,
                {user, tiles, part, task});
  b_.CreateRetVoid();
  b_.restoreIP(resume);
  return share;
}

}  // namespace svod
