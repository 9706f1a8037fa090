#include "target/cpu/scaleb.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>

namespace svod {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

struct Row {
  unsigned elementBits, registerBits;
  llvm::Intrinsic::ID id;
};
constexpr Row kRows[] = {
    {32, 128, llvm::Intrinsic::x86_avx512_mask_scalef_ps_128},
    {32, 256, llvm::Intrinsic::x86_avx512_mask_scalef_ps_256},
    {32, 512, llvm::Intrinsic::x86_avx512_mask_scalef_ps_512},
    {64, 128, llvm::Intrinsic::x86_avx512_mask_scalef_pd_128},
    {64, 256, llvm::Intrinsic::x86_avx512_mask_scalef_pd_256},
    {64, 512, llvm::Intrinsic::x86_avx512_mask_scalef_pd_512},
};

Value* lanesOf(Builder& b, Value* v, unsigned first, unsigned count, unsigned padding = 0) {
  return b.CreateShuffleVector(v, llvm::createSequentialMask(first, count, padding));
}

// Operands of at most one register.
Value* emitRegister(Builder& b, const Row& row, Value* x, Value* n) {
  const unsigned width = row.registerBits / row.elementBits;
  llvm::Type* type = llvm::FixedVectorType::get(x->getType()->getScalarType(), width);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const unsigned lanes = vector ? vector->getNumElements() : 1;
  const auto filled = [&](Value* v) {
    if (v->getType() == type) return v;
    return vector ? lanesOf(b, v, 0, lanes, width - lanes)
                  : b.CreateInsertElement(llvm::PoisonValue::get(type), v, uint64_t{0});
  };
  llvm::SmallVector<Value*, 5> arguments{filled(x), filled(n), llvm::Constant::getNullValue(type),
                                         llvm::Constant::getAllOnesValue(b.getIntNTy(std::max(width, 8U)))};
  constexpr int kCurrentRounding = 4;
  if (row.registerBits == 512) arguments.push_back(b.getInt32(kCurrentRounding));
  Value* result = b.CreateIntrinsic(row.id, {}, arguments);
  if (lanes == width) return result;
  return vector ? lanesOf(b, result, 0, lanes) : b.CreateExtractElement(result, uint64_t{0});
}

}  // namespace

Value* emitScaleb(Builder& b, const CpuTarget& cpu, Value* x, Value* n) {
  if (!cpu.hasScaleb()) return nullptr;
  const unsigned elementBits = x->getType()->getScalarSizeInBits();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const unsigned lanes = vector ? vector->getNumElements() : 1;
  const unsigned widest = static_cast<unsigned>(8 * cpu.vectorBytes) / elementBits;
  if (lanes > widest) {
    llvm::SmallVector<Value*> parts;
    for (unsigned first = 0; first < lanes; first += widest) {
      const unsigned count = std::min(widest, lanes - first);
      parts.push_back(emitScaleb(b, cpu, lanesOf(b, x, first, count), lanesOf(b, n, first, count)));
    }
    return llvm::concatenateVectors(b, parts);
  }
  const unsigned bits = std::max(128U, std::bit_ceil(lanes) * elementBits);
  const auto* row =
      std::ranges::find_if(kRows, [&](const Row& r) { return r.elementBits == elementBits && r.registerBits == bits; });
  return row == std::end(kRows) ? nullptr : emitRegister(b, *row, x, n);
}

}  // namespace svod
