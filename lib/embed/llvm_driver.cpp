#include "embed/llvm_driver.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "embed/sharing.h"
#include "toolchain/object.h"

namespace svod {

namespace {

// As the header numbers them.
enum Code : uint32_t { kOk, kBadVariable, kBadMemory, kBadValues };

class DriverEmitter {
 public:
  DriverEmitter(llvm::Module& module, const Plan& plan, const Interface& made)
      : plan_(plan), made_(made), module_(module), b_(module.getContext()), i32_(b_.getInt32Ty()),
        i64_(b_.getInt64Ty()), ptr_(b_.getPtrTy()),
        kernelType_(llvm::FunctionType::get(b_.getVoidTy(), {ptr_, ptr_, i64_, i64_, ptr_}, false)),
        partType_(llvm::FunctionType::get(b_.getVoidTy(), {ptr_, i64_, i64_, i32_}, false)),
        taskType_(llvm::StructType::get(module.getContext(), {ptr_, ptr_, ptr_, ptr_})),
        threadsType_(llvm::StructType::get(module.getContext(), {ptr_, i32_, ptr_})),
        variables_(plan.variables.size()) {}

  void emit(std::span<const std::span<const std::byte>> weights) {
    emitWeights(weights);
    emitRun();
    if (made_.stateBytes > 0) emitReset();
  }

 private:
  void emitWeights(std::span<const std::span<const std::byte>> chunks) {
    if (made_.weightBytes == 0 || made_.hasWeightsParameter()) return;
    std::string bytes;
    for (std::span<const std::byte> chunk : chunks)
      bytes.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    bytes.resize(std::max<size_t>(bytes.size(), made_.weightBytes));
    auto* content = llvm::ConstantDataArray::getString(module_.getContext(), bytes, /*AddNull=*/false);
    auto* global = new llvm::GlobalVariable(module_, content->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::InternalLinkage, content, "svod_weights");
    global->setAlignment(llvm::Align(kPlanAlignment));
    if (made_.weights.kind == WeightsPlace::Kind::Section) global->setSection(made_.weights.section);
    weights_ = global;
  }

  llvm::Function* startFunction(const std::string& name, std::span<const Parameter> parameters) {
    std::vector<llvm::Type*> types;
    for (const Parameter& p : parameters) types.push_back(p.kind == ParameterKind::Variable ? i64_ : ptr_);
    auto* function = llvm::Function::Create(llvm::FunctionType::get(i32_, types, false),
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

  llvm::BasicBlock* block(llvm::Function* function, const char* name) {
    return llvm::BasicBlock::Create(module_.getContext(), name, function);
  }
  llvm::BasicBlock* block(const char* name) { return block(b_.GetInsertBlock()->getParent(), name); }
  llvm::Value* number(int64_t value) { return llvm::ConstantInt::getSigned(i64_, value); }
  llvm::Value* null() { return llvm::ConstantPointerNull::get(ptr_); }

  void failIf(llvm::Value* condition, Code code) {
    llvm::BasicBlock *failed = block("failed"), *next = block("next");
    b_.CreateCondBr(condition, failed, next);
    b_.SetInsertPoint(failed);
    b_.CreateRet(b_.getInt32(code));
    b_.SetInsertPoint(next);
  }
  void checkMemory(llvm::Value* memory) {
    auto* low = b_.CreateAnd(b_.CreatePtrToInt(memory, i64_), number(kPlanAlignment - 1));
    failIf(b_.CreateOr(b_.CreateIsNull(memory), b_.CreateIsNotNull(low)), kBadMemory);
  }

  // ---- expressions, whose ranges are known: nothing overflows, no divisor is 0

  llvm::Value* expr(const Expr& e, std::span<llvm::Value* const> values) {
    std::vector<llvm::Value*> stack;
    for (const ExprNode& node : e.nodes()) {
      if (node.op == ExprOp::Const) {
        stack.push_back(number(node.value));
      } else if (node.op == ExprOp::Var) {
        stack.push_back(values[static_cast<size_t>(node.value)]);
      } else {
        llvm::Value* b = stack.back();
        stack.pop_back();
        stack.back() = operation(node.op, stack.back(), b);
      }
    }
    return stack.back();
  }
  llvm::Value* expr(const Expr& e) { return expr(e, variables_); }

  llvm::Value* operation(ExprOp op, llvm::Value* a, llvm::Value* b) {
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
  llvm::Value* isInexact(llvm::Value* a, llvm::Value* b, bool above) {
    llvm::Value* signs = b_.CreateICmpSLT(b_.CreateXor(a, b), number(0));
    if (above) signs = b_.CreateNot(signs);
    return b_.CreateAnd(b_.CreateIsNotNull(b_.CreateSRem(a, b)), signs);
  }

  llvm::Value* at(llvm::Value* base, uint64_t offset) {
    return offset == 0 ? base : b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset);
  }
  llvm::Value* pointer(BufferId id) {
    const Location& where = made_.buffers[id];
    switch (where.memory) {
      case ParameterKind::Input: return at(inputs_[where.id], where.offset);
      case ParameterKind::Output: return at(outputs_[where.id], where.offset);
      case ParameterKind::States: return at(states_, where.offset);
      case ParameterKind::Weights: return at(weights_, where.offset);
      default: return at(arena_, where.offset);
    }
  }

  // ---- the run

  void emitRun() {
    llvm::Function* run = startFunction(made_.prefix + "_run", made_.parameters);
    for (VariableId id = 0; id < plan_.variables.size(); id++)
      if (plan_.variables[id].kind == VariableKind::Fixed) variables_[id] = number(plan_.variables[id].value);
    makeRoom();
    if (made_.arenaBytes() > 0) checkMemory(arena_);
    if (made_.stateBytes > 0) checkMemory(states_);
    if (made_.hasWeightsParameter()) checkMemory(weights_);
    checkVariables();
    emitSteps(0, static_cast<StepId>(plan_.steps.size()));
    for (const Expectation& e : plan_.expectations) checkExpectation(e);
    b_.CreateRet(b_.getInt32(kOk));
    (void)run;
  }

  /// One place for the arguments of all launches, which follow each other.
  void makeRoom() {
    size_t buffers = 1, values = 1;
    for (const Step& step : plan_.steps)
      if (const auto* launch = std::get_if<Launch>(&step.action)) {
        buffers = std::max(buffers, launch->buffers.size());
        values = std::max(values, launch->values.size());
      }
    bufferRoom_ = b_.CreateAlloca(ptr_, number(static_cast<int64_t>(buffers)), "buffers");
    valueRoom_ = b_.CreateAlloca(i64_, number(static_cast<int64_t>(values)), "values");
    taskRoom_ = b_.CreateAlloca(taskType_, nullptr, "task");
  }

  void checkVariables() {
    for (const Parameter& p : made_.parameters) {
      if (p.kind != ParameterKind::Variable) continue;
      const Variable& v = plan_.variables[VariableId(p.id)];
      llvm::Value* value = variables_[p.id];
      failIf(b_.CreateOr(b_.CreateICmpSLT(value, number(v.min)), b_.CreateICmpSGT(value, number(v.max))), kBadVariable);
    }
    for (const EqualExprs& equal : plan_.equalSizes)
      failIf(b_.CreateICmpNE(expr(equal.a), expr(equal.b)), kBadVariable);
  }

  void checkExpectation(const Expectation& e) {
    const uint64_t count = plan_.buffers[e.buffer].shape[1];
    if (count == 0) return;
    counted(number(static_cast<int64_t>(count)), nullptr, [&](llvm::Value* i) {
      llvm::Value* row = b_.CreateInBoundsGEP(i64_, pointer(e.buffer), i);
      llvm::Value* wanted = b_.CreateConstInBoundsGEP1_64(i64_, row, count);
      failIf(b_.CreateICmpNE(b_.CreateLoad(i64_, row), b_.CreateLoad(i64_, wanted)), kBadValues);
    });
  }

  /// A loop over 0, 1, .. count - 1, which ends early where the byte at `condition` is 0.
  void counted(llvm::Value* count, const BufferId* condition, const std::function<void(llvm::Value*)>& body) {
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

  void emitSteps(StepId begin, StepId end) {
    for (StepId id = begin; id < end; id++) {
      const auto& action = plan_.steps[id].action;
      if (const auto* copy = std::get_if<Copy>(&action))
        b_.CreateMemMove(pointer(copy->dst), llvm::Align(1), pointer(copy->src), llvm::Align(1), expr(copy->bytes));
      if (const auto* launch = std::get_if<Launch>(&action)) emitLaunch(*launch);
      const auto* loop = std::get_if<Loop>(&action);
      if (loop == nullptr) continue;
      emitLoop(*loop, id + 1);
      id += loop->length;
    }
  }

  void emitLoop(const Loop& loop, StepId begin) {
    const ExprRange trips = *rangeOf(loop.trips, made_.ranges), bounds = made_.ranges[loop.variable];
    llvm::Value* count = expr(loop.trips);
    if (trips.max > 0 && (bounds.min > 0 || trips.max - 1 > bounds.max))
      failIf(b_.CreateICmpSGT(count, number(bounds.min > 0 ? 0 : bounds.max + 1)), kBadVariable);
    counted(count, loop.condition ? &*loop.condition : nullptr, [&](llvm::Value* trip) {
      variables_[loop.variable] = trip;
      emitSteps(begin, begin + loop.length);
    });
  }

  void emitLaunch(const Launch& launch) {
    const ExprRange range = tilesOf(plan_, made_, launch);
    if (range.max <= 0) return;
    const KernelDesc& kernel = plan_.kernels[launch.kernel];
    std::vector<llvm::Value*> values;
    for (const Expr& value : launch.values) values.push_back(expr(value));
    llvm::Value* tiles = expr(kernel.tiles, values);
    llvm::BasicBlock* after = range.min <= 0 ? block("after") : nullptr;
    if (after != nullptr) {
      llvm::BasicBlock* some = block("some");
      b_.CreateCondBr(b_.CreateICmpSGT(tiles, number(0)), some, after);
      b_.SetInsertPoint(some);
    }
    for (size_t i = 0; i < launch.buffers.size(); i++)
      b_.CreateStore(pointer(launch.buffers[i]), b_.CreateConstInBoundsGEP1_64(ptr_, bufferRoom_, i));
    for (size_t i = 0; i < values.size(); i++)
      b_.CreateStore(values[i], b_.CreateConstInBoundsGEP1_64(i64_, valueRoom_, i));
    llvm::FunctionCallee function = module_.getOrInsertFunction(kernel.symbol, kernelType_);
    llvm::Value* scratch = at(arena_, made_.scratchOffset);
    if (isWorthSharing(plan_, made_, launch))
      b_.CreateCall(shareFunction(),
                    {function.getCallee(), bufferRoom_, valueRoom_, tiles, scratch, threads_, taskRoom_});
    else
      b_.CreateCall(function, {bufferRoom_, valueRoom_, number(0), tiles, scratch});
    if (after == nullptr) return;
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  // ---- launches on the threads of the caller

  llvm::Function* internal(const char* name, llvm::FunctionType* type) {
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module_);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(block(function, "entry"));
    return function;
  }

  /// Runs tiles of a launch with the scratch memory of a thread.
  llvm::Function* partFunction() {
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

  llvm::Function* shareFunction() {
    if (share_ != nullptr) return share_;
    const auto resume = b_.saveIP();
    llvm::Function* part = partFunction();
    share_ = internal("svod_share",
                      llvm::FunctionType::get(b_.getVoidTy(), {ptr_, ptr_, ptr_, i64_, ptr_, ptr_, ptr_}, false));
    llvm::Value *kernel = share_->getArg(0), *buffers = share_->getArg(1), *values = share_->getArg(2),
                *tiles = share_->getArg(3), *scratch = share_->getArg(4), *threads = share_->getArg(5),
                *task = share_->getArg(6);
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
    return share_;
  }

  // ---- first values of the states

  void emitReset() {
    std::vector<Parameter> parameters = {{ParameterKind::States, 0, "states"}};
    if (made_.hasWeightsParameter()) parameters.push_back({ParameterKind::Weights, 0, "weights"});
    startFunction(made_.prefix + "_reset", parameters);
    checkMemory(states_);
    const bool readsWeights = std::ranges::any_of(plan_.states, [](const State& s) { return s.init.has_value(); });
    if (made_.hasWeightsParameter() && readsWeights) checkMemory(weights_);
    const llvm::Align aligned(kPlanAlignment);
    for (const State& state : plan_.states) {
      const uint64_t bytes = plan_.buffers[state.buffer].bytes;
      if (bytes == 0) continue;
      llvm::Value* to = pointer(state.buffer);
      if (state.init)
        b_.CreateMemCpy(to, aligned, at(weights_, plan_.constants[*state.init].offset), aligned, bytes);
      else
        b_.CreateMemSet(to, b_.getInt8(0), bytes, aligned);
    }
    b_.CreateRet(b_.getInt32(kOk));
  }

  const Plan& plan_;
  const Interface& made_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  llvm::Type *const i32_, *const i64_;
  llvm::PointerType* const ptr_;
  llvm::FunctionType *const kernelType_, *const partType_;
  llvm::StructType *const taskType_, *const threadsType_;
  std::vector<llvm::Value*> variables_, inputs_, outputs_;
  llvm::Value *arena_ = nullptr, *states_ = nullptr, *weights_ = nullptr, *threads_ = nullptr;
  llvm::Value *bufferRoom_ = nullptr, *valueRoom_ = nullptr, *taskRoom_ = nullptr;
  llvm::Function* share_ = nullptr;
};

}  // namespace

std::vector<std::string> functionNames(const Interface& made) {
  std::vector<std::string> names = {made.prefix + "_run"};
  if (made.stateBytes > 0) names.push_back(made.prefix + "_reset");
  return names;
}

Result<std::string> driverObject(const Plan& plan, const Interface& made,
                                 std::span<const std::span<const std::byte>> weights, const CpuTarget& cpu) {
  llvm::LLVMContext context;
  llvm::Module module(made.prefix, context);
  module.setTargetTriple(cpu.triple);
  DriverEmitter(module, plan, made).emit(weights);
  return emitObject(module, cpu, OptLevel::O1);
}

}  // namespace svod
