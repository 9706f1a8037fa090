#include "toolchain/expand_divisions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/NoFolder.h>
#include <llvm/Transforms/Utils/IntegerDivision.h>

#include <vector>

namespace svod {

namespace {

bool isRemainder(const llvm::BinaryOperator& op) {
  return op.getOpcode() == llvm::Instruction::SRem || op.getOpcode() == llvm::Instruction::URem;
}

bool isDivision(const llvm::BinaryOperator& op) {
  return op.getOpcode() == llvm::Instruction::SDiv || op.getOpcode() == llvm::Instruction::UDiv || isRemainder(op);
}

/// ARMv7 divides no 64 bits, and 32 bits where it has the extension; by constants it multiplies 32 bits.
bool isCall(const llvm::BinaryOperator& op, const CpuTarget& cpu) {
  if (!isDivision(op)) return false;
  if (op.getType()->getScalarSizeInBits() > 32) return true;
  return !cpu.has("hwdiv-arm") && !llvm::isa<llvm::Constant>(op.getOperand(1));
}

llvm::Value* laneOf(llvm::IRBuilder<llvm::NoFolder>& b, llvm::Value* vector, unsigned lane) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(vector);
  llvm::Constant* element = constant == nullptr ? nullptr : constant->getAggregateElement(lane);
  return element != nullptr ? element : b.CreateExtractElement(vector, lane);
}

/// Which are shifts.
bool isByPowerOfTwo(const llvm::BinaryOperator& op) {
  const auto* divisor = llvm::dyn_cast<llvm::ConstantInt>(op.getOperand(1));
  return divisor != nullptr && divisor->getValue().abs().isPowerOf2();
}

/// One division for each lane of a vector.
void addLanes(llvm::BinaryOperator* op, std::vector<llvm::BinaryOperator*>& scalars) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(op->getType());
  if (type == nullptr) {
    scalars.push_back(op);
    return;
  }
  llvm::IRBuilder<llvm::NoFolder> b(op);
  llvm::Value* result = llvm::PoisonValue::get(op->getType());
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    llvm::Value* x = b.CreateExtractElement(op->getOperand(0), lane);
    llvm::Value* y = laneOf(b, op->getOperand(1), lane);
    auto* scalar = llvm::cast<llvm::BinaryOperator>(b.CreateBinOp(op->getOpcode(), x, y));
    scalars.push_back(scalar);
    result = b.CreateInsertElement(result, scalar, lane);
  }
  op->replaceAllUsesWith(result);
  op->eraseFromParent();
}

}  // namespace

void expandDivisions(llvm::Module& module, const CpuTarget& cpu) {
  if (cpu.arch != Arch::Arm) return;
  std::vector<llvm::BinaryOperator*> found, scalars;
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block)
        if (auto* op = llvm::dyn_cast<llvm::BinaryOperator>(&instruction); op != nullptr && isCall(*op, cpu))
          found.push_back(op);
  for (llvm::BinaryOperator* op : found) addLanes(op, scalars);
  for (llvm::BinaryOperator* op : scalars) {
    if (isByPowerOfTwo(*op)) continue;
    isRemainder(*op) ? llvm::expandRemainderUpTo64Bits(op) : llvm::expandDivisionUpTo64Bits(op);
  }
}

}  // namespace svod
