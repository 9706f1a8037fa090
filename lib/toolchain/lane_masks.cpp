#include "toolchain/lane_masks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

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

/// A masked access without its mask where all lanes are in it.
class WholeAccess {
 public:
  explicit WholeAccess(llvm::IntrinsicInst& call)
      : call_(call), isStore_(call.getIntrinsicID() == llvm::Intrinsic::masked_store), first_(isStore_ ? 1 : 0) {}

  void branch() {
    llvm::IRBuilder<> b(&call_);
    llvm::Value* const mask = call_.getArgOperand(first_ + 2);
    llvm::Type* const bits = b.getIntNTy(llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements());
    llvm::Value* const isWhole = b.CreateICmpEQ(b.CreateBitCast(mask, bits), llvm::Constant::getAllOnesValue(bits));
    llvm::Instruction *whole = nullptr, *part = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(isWhole, &call_, &whole, &part);
    llvm::Instruction* const plain = plainAt(whole);
    llvm::BasicBlock* const after = call_.getParent();
    if (!isStore_) {
      auto* const value = llvm::PHINode::Create(call_.getType(), 2, "", after->begin());
      call_.replaceAllUsesWith(value);
      value->addIncoming(plain, whole->getParent());
      value->addIncoming(&call_, part->getParent());
    }
    call_.moveBefore(part);
  }

 private:
  llvm::Instruction* plainAt(llvm::Instruction* place) const {
    llvm::IRBuilder<> b(place);
    llvm::Value* const pointer = call_.getArgOperand(first_);
    const auto alignment = llvm::cast<llvm::ConstantInt>(call_.getArgOperand(first_ + 1))->getMaybeAlignValue();
    llvm::Instruction* plain = nullptr;
    if (isStore_)
      plain = b.CreateAlignedStore(call_.getArgOperand(0), pointer, alignment);
    else
      plain = b.CreateAlignedLoad(call_.getType(), pointer, alignment);
    plain->copyMetadata(call_);
    return plain;
  }

  llvm::IntrinsicInst& call_;
  bool isStore_;
  unsigned first_;  // of the operands that loads have as well
};

/// Stores, which take some processors a dozen cycles under a mask, and loads that are one for each lane under it.
void branchOnWholeMasks(llvm::Function& function, const CpuTarget& cpu) {
  std::vector<WholeAccess> accesses;
  for (llvm::Instruction& user : llvm::instructions(function)) {
    const auto [condition, type] = conditionOf(user);
    auto* const call = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
    if (call == nullptr || condition == nullptr || llvm::isa<llvm::Constant>(condition->get())) continue;
    const bool isCheap = cpu.maskedBytes() > 0 && type->getScalarSizeInBits() >= 8U * cpu.maskedBytes();
    if (call->getIntrinsicID() == llvm::Intrinsic::masked_store || !isCheap) accesses.emplace_back(*call);
  }
  for (WholeAccess& access : accesses) access.branch();
}

}  // namespace

void widenMasks(llvm::Module& module, const CpuTarget& cpu) {
  if (cpu.hasMasks()) return;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) {
      widenMasks(function);
      branchOnWholeMasks(function, cpu);
    }
}

}  // namespace svod
