#include "toolchain/lane_masks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <map>
#include <utility>
#include <vector>

namespace svod {

namespace {

bool isJoin(const llvm::Value* value) {
  const auto* join = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return join != nullptr && (join->getOpcode() == llvm::Instruction::And || join->getOpcode() == llvm::Instruction::Or);
}

/// Conditions as lanes of integers, all bits of which are the condition.
class Widener {
 public:
  /// `mask` in lanes of `bits`; each value that it is made of is widened where it is made.
  llvm::Value* widen(llvm::Value* mask, unsigned bits) {
    llvm::Value*& known = known_[{mask, bits}];
    if (known != nullptr) return known;
    llvm::Type* const type = mask->getType()->getWithNewType(llvm::IntegerType::get(mask->getContext(), bits));
    if (llvm::isa<llvm::Constant>(mask)) return known = llvm::IRBuilder<>(mask->getContext()).CreateSExt(mask, type);
    if (!isJoin(mask)) return known = sextAt(placeAfter(mask), mask, type);
    auto* const join = llvm::cast<llvm::BinaryOperator>(mask);
    llvm::Value *const left = widen(join->getOperand(0), bits), *const right = widen(join->getOperand(1), bits);
    llvm::IRBuilder<> b(join);
    return known_[{mask, bits}] = b.CreateBinOp(join->getOpcode(), left, right);
  }

 private:
  static llvm::Value* sextAt(llvm::Instruction* place, llvm::Value* mask, llvm::Type* type) {
    return llvm::IRBuilder<>(place).CreateSExt(mask, type);
  }
  static llvm::Instruction* placeAfter(llvm::Value* value) {
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(value))
      return &*argument->getParent()->getEntryBlock().getFirstInsertionPt();
    auto* const made = llvm::cast<llvm::Instruction>(value);
    return llvm::isa<llvm::PHINode>(made) ? &*made->getParent()->getFirstInsertionPt() : made->getNextNode();
  }

  std::map<std::pair<llvm::Value*, unsigned>, llvm::Value*> known_;
};

/// The operand of `user` that is a condition of lanes, and the type of what it chooses.
std::pair<llvm::Use*, llvm::Type*> conditionOf(llvm::Instruction& user) {
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&user)) return {&select->getOperandUse(0), select->getType()};
  auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
  if (call == nullptr) return {};
  if (call->getIntrinsicID() == llvm::Intrinsic::masked_load) return {&call->getArgOperandUse(2), call->getType()};
  if (call->getIntrinsicID() == llvm::Intrinsic::masked_store)
    return {&call->getArgOperandUse(3), call->getArgOperand(0)->getType()};
  return {};
}

void widenMasks(llvm::Function& function) {
  std::vector<std::pair<llvm::Use*, unsigned>> conditions;
  for (llvm::Instruction& user : llvm::instructions(function)) {
    const auto [condition, type] = conditionOf(user);
    if (condition == nullptr || !llvm::isa<llvm::FixedVectorType>(condition->get()->getType())) continue;
    const unsigned bits = type->getScalarSizeInBits();
    if (isJoin(condition->get()) && bits >= 8) conditions.emplace_back(condition, bits);
  }
  Widener widener;
  for (const auto& [condition, bits] : conditions) {
    llvm::Value* const wide = widener.widen(condition->get(), bits);
    llvm::IRBuilder<> b(llvm::cast<llvm::Instruction>(condition->getUser()));
    condition->set(b.CreateICmpSLT(wide, llvm::Constant::getNullValue(wide->getType())));
  }
}

}  // namespace

void widenMasks(llvm::Module& module, const CpuTarget& cpu) {
  if (cpu.hasMasks()) return;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) widenMasks(function);
}

}  // namespace svod
