#include "embed/llvm_driver.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>

#include "embed/driver_builder.h"
#include "embed/processor_code.h"
#include "embed/sharing.h"
#include "toolchain/bitcode.h"
#include "toolchain/object.h"

namespace svod {

namespace {

/// Buffers and values of the launch that has most of them, one at least.
std::pair<int64_t, int64_t> mostArguments(const Plan& plan) {
  std::pair<int64_t, int64_t> most = {1, 1};
  const auto see = [&](const Launch& launch) {
    most.first = std::max<int64_t>(most.first, launch.buffers.size());
    most.second = std::max<int64_t>(most.second, launch.values.size());
  };
  for (const Step& step : plan.steps)
    if (const auto* launch = std::get_if<Launch>(&step.action)) {
      see(*launch);
      for (const LaunchCase& one : launch->cases) see(one.launch);
    }
  return most;
}

class DriverEmitter : DriverBuilder {
 public:
  using DriverBuilder::DriverBuilder;

  void emit(std::span<const std::span<const std::byte>> weights) {
    emitWeights(weights);
    for (const PublicFunction& f : made_.functions) emitFunction(f);
  }

 private:
  /// Under its own name and the plain one.
  void emitFunction(const PublicFunction& f) {
    const std::string symbol = made_.symbolOf(f);
    llvm::Function* function = nullptr;
    switch (f.kind) {
      case FunctionKind::Run: function = plan_.variants.empty() ? emitRun(symbol) : emitChoice(symbol); break;
      case FunctionKind::Reset: function = emitReset(symbol); break;
      case FunctionKind::Size: function = emitSize(symbol, f); break;
    }
    llvm::GlobalAlias::create(f.name, function);
  }

  // ---- the run

  /// The function of the header takes that of the best processor.
  llvm::Function* emitChoice(const std::string& symbol) {
    std::vector<llvm::Function*> runs;
    for (size_t i = 0; i <= plan_.variants.size(); i++) {
      Plan own = plan_;
      takeVariant(own, i);
      runs.push_back(DriverEmitter(module_, own, made_).emitRun("svod.run"));
    }
    llvm::Function* run = startFunction(symbol, made_.parameters);
    llvm::Value* processor = b_.CreateCall(module_.getOrInsertFunction(kProcessorFunction, i32_));
    std::vector<llvm::Value*> arguments;
    for (llvm::Argument& argument : run->args()) arguments.push_back(&argument);
    llvm::BasicBlock* none = block("none");
    llvm::SwitchInst* choice = b_.CreateSwitch(processor, none, static_cast<unsigned>(runs.size()));
    for (size_t i = 0; i < runs.size(); i++) {
      llvm::BasicBlock* found = block("found");
      choice->addCase(b_.getInt32(static_cast<uint32_t>(i)), found);
      b_.SetInsertPoint(found);
      b_.CreateRet(b_.CreateCall(runs[i], arguments));
    }
    b_.SetInsertPoint(none);
    b_.CreateRet(code(RunCode::BadProcessor));
    return run;
  }

  llvm::Function* emitRun(const std::string& name) {
    llvm::Function* run = startFunction(name, made_.parameters);
    setFixed();
    makeRoom();
    for (const Parameter& p : made_.parameters) checkGiven(p);
    checkVariables(code(RunCode::BadVariable));
    for (const Parameter& p : made_.parameters) checkElements(p);
    layOut();
    emitSteps(0, static_cast<StepId>(plan_.steps.size()));
    for (const Expectation& e : plan_.expectations) checkExpectation(e);
    b_.CreateRet(code(RunCode::Ok));
    return run;
  }

  void setFixed() {
    for (VariableId id = 0; id < plan_.variables.size(); id++)
      if (plan_.variables[id].kind == VariableKind::Fixed) variables_[id] = number(plan_.variables[id].value);
  }

  /// One place for the arguments of all launches, which follow each other.
  void makeRoom() {
    const auto [buffers, values] = mostArguments(plan_);
    bufferRoom_ = b_.CreateAlloca(ptr_, number(buffers), "buffers");
    valueRoom_ = b_.CreateAlloca(i64_, number(values), "values");
    taskRoom_ = b_.CreateAlloca(taskType_, nullptr, "task");
  }

  void checkVariables(llvm::Value* result) {
    for (const Parameter& p : made_.parameters) {
      if (p.kind != ParameterKind::Variable) continue;
      const Variable& v = plan_.variables[VariableId(p.id)];
      llvm::Value* value = variables_[p.id];
      failIf(b_.CreateOr(b_.CreateICmpSLT(value, number(v.min)), b_.CreateICmpSGT(value, number(v.max))), result);
    }
    for (const EqualExprs& equal : plan_.equalSizes) failIf(b_.CreateICmpNE(expr(equal.a), expr(equal.b)), result);
  }

  void checkExpectation(const Expectation& e) {
    const uint64_t count = plan_.buffers[e.buffer].shape[1];
    if (count == 0) return;
    counted(number(static_cast<int64_t>(count)), nullptr, [&](llvm::Value* i) {
      llvm::Value* row = b_.CreateInBoundsGEP(i64_, pointer(e.buffer), i);
      llvm::Value* wanted = b_.CreateConstInBoundsGEP1_64(i64_, row, count);
      failIf(b_.CreateICmpNE(b_.CreateLoad(i64_, row), b_.CreateLoad(i64_, wanted)), RunCode::BadValues);
    });
  }

  void emitSteps(StepId begin, StepId end) {
    for (StepId id = begin; id < end; id++) {
      const auto& action = plan_.steps[id].action;
      if (const auto* copy = std::get_if<Copy>(&action))
        b_.CreateMemMove(pointer(copy->dst), llvm::Align(1), pointer(copy->src), llvm::Align(1),
                         size(expr(copy->bytes)));
      if (const auto* launch = std::get_if<Launch>(&action)) emitCases(*launch);
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
      failIf(b_.CreateICmpSGT(count, number(bounds.min > 0 ? 0 : bounds.max + 1)), RunCode::BadVariable);
    counted(count, loop.condition ? &*loop.condition : nullptr, [&](llvm::Value* trip) {
      variables_[loop.variable] = trip;
      emitSteps(begin, begin + loop.length);
    });
  }

  /// The first case that holds, or else the launch.
  void emitCases(const Launch& launch) {
    if (launch.cases.empty()) return emitLaunch(launch);
    llvm::BasicBlock* done = block("done");
    for (const LaunchCase& one : launch.cases) {
      llvm::BasicBlock *taken = block("case"), *next = block("next.case");
      b_.CreateCondBr(holds(one), taken, next);
      b_.SetInsertPoint(taken);
      emitLaunch(one.launch);
      b_.CreateBr(done);
      b_.SetInsertPoint(next);
    }
    emitLaunch(launch);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
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
    if (isWorthSharing(plan_, made_, launch))
      b_.CreateCall(shareFunction(),
                    {function.getCallee(), bufferRoom_, valueRoom_, tiles, scratch(), threads_, taskRoom_});
    else
      b_.CreateCall(function, {bufferRoom_, valueRoom_, number(0), tiles, scratch()});
    if (after == nullptr) return;
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  // ---- first values of the states

  llvm::Function* emitReset(const std::string& symbol) {
    llvm::Function* reset = startFunction(symbol, parametersOf(made_, FunctionKind::Reset));
    checkMemory(states_);
    const bool readsWeights = std::ranges::any_of(plan_.states, [](const State& s) { return s.init.has_value(); });
    if (made_.hasWeightsParameter() && readsWeights) checkMemory(weights_);
    const llvm::Align aligned(kPlanAlignment);
    for (const State& state : plan_.states) {
      if (plan_.buffers[state.buffer].bytes == 0) continue;
      llvm::Value* bytes = b_.getInt64(plan_.buffers[state.buffer].bytes);
      llvm::Value* to = pointer(state.buffer);
      if (state.init)
        b_.CreateMemCpy(to, aligned, at(weights_, plan_.constants[*state.init].offset), aligned, size(bytes));
      else
        b_.CreateMemSet(to, b_.getInt8(0), size(bytes), aligned);
    }
    b_.CreateRet(code(RunCode::Ok));
    return reset;
  }

  llvm::Function* emitSize(const std::string& symbol, const PublicFunction& f) {
    llvm::Function* function = startFunction(symbol, parametersOf(made_, FunctionKind::Size), i64_);
    setFixed();
    checkVariables(number(-1));
    llvm::Value* value = expr(f.size);
    if (f.ofUnits) layOut(), value = b_.CreateAdd(value, endOfUnits());
    b_.CreateRet(value);
    return function;
  }

  llvm::Value *bufferRoom_ = nullptr, *valueRoom_ = nullptr, *taskRoom_ = nullptr;
};

}  // namespace

std::vector<std::string> functionNames(const Interface& made) {
  std::vector<std::string> names;
  for (const PublicFunction& f : made.functions) names.insert(names.end(), {f.name, made.symbolOf(f)});
  return names;
}

Result<std::string> driverObject(const Plan& plan, const Interface& made,
                                 std::span<const std::span<const std::byte>> weights, const CpuTarget& cpu,
                                 std::span<const std::string> kernels) {
  llvm::LLVMContext context;
  llvm::Module module(made.prefix, context);
  SVOD_CHECK(setDataLayout(module, cpu));
  DriverEmitter(module, plan, made).emit(weights);
  SVOD_CHECK(addBitcode(module, kernels, cpu));
  const std::vector<std::string> seen = functionNames(made);
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && std::ranges::find(seen, function.getName().str()) == seen.end())
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  return emitObject(module, cpu, OptLevel::O1);
}

}  // namespace svod
