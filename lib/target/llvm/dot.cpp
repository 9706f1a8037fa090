#include "target/llvm/dot.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <utility>

namespace svod {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr int kGroup = 4;  // products that all of these instructions sum up

int lanesOf(const Value* v) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

Value* lanesFrom(Builder& b, Value* v, int first, int count, int step = 1) {
  llvm::SmallVector<int> mask;
  for (int i = 0; i < count; ++i) mask.push_back(first + i * step);
  return b.CreateShuffleVector(v, mask);
}

// An instruction over whole registers.
struct Instruction {
  llvm::Intrinsic::ID id = llvm::Intrinsic::not_intrinsic;
  int lanes = 0;       // of the result
  bool swaps = false;  // the second factor goes first
  bool pairs = false;  // multiplies i16 and sums up two products: even bytes, then odd ones
};

// x86 before VNNI.
Instruction pairsFor(const CpuTarget& cpu, int lanes) {
  if (cpu.has("avx512bw") && cpu.vectorBytes >= 64 && lanes % 16 == 0)
    return {llvm::Intrinsic::x86_avx512_pmaddw_d_512, 16, false, true};
  if (cpu.has("avx2") && lanes % 8 == 0) return {llvm::Intrinsic::x86_avx2_pmadd_wd, 8, false, true};
  return lanes % 4 == 0 ? Instruction{llvm::Intrinsic::x86_sse2_pmadd_wd, 4, false, true} : Instruction{};
}

Instruction instructionFor(const CpuTarget& cpu, DType a, DType b, int lanes) {
  const bool alike = isSigned(a) == isSigned(b);
  if (cpu.arch == Arch::AArch64) {
    if (lanes % 4 != 0 || !(alike ? cpu.hasLikeDots() : cpu.hasMixedDots())) return {};
    if (!alike) return {llvm::Intrinsic::aarch64_neon_usdot, 4, isSigned(a)};
    return {isSigned(a) ? llvm::Intrinsic::aarch64_neon_sdot : llvm::Intrinsic::aarch64_neon_udot, 4};
  }
  if (alike || cpu.hasLikeDots()) return pairsFor(cpu, lanes);
  const bool wide = cpu.has("avx512vnni") && cpu.vectorBytes >= 64;
  if (wide && lanes % 16 == 0) return {llvm::Intrinsic::x86_avx512_vpdpbusd_512, 16, isSigned(a)};
  if (lanes % 8 == 0) return {llvm::Intrinsic::x86_avx512_vpdpbusd_256, 8, isSigned(a)};
  if (lanes % 4 == 0) return {llvm::Intrinsic::x86_avx512_vpdpbusd_128, 4, isSigned(a)};
  return {};
}

// Bytes of `count` lanes from lane `first` on, as the instruction takes them; one group is repeated.
Value* factorOf(Builder& b, const CpuTarget& cpu, Value* bytes, int first, int count) {
  llvm::Type *i32 = b.getInt32Ty(), *words = llvm::FixedVectorType::get(i32, static_cast<unsigned>(count));
  Value* part = nullptr;
  if (lanesOf(bytes) == kGroup)
    part = b.CreateVectorSplat(static_cast<unsigned>(count), b.CreateBitCast(bytes, i32));
  else
    part = b.CreateBitCast(
        lanesOf(bytes) == kGroup * count ? bytes : lanesFrom(b, bytes, kGroup * first, kGroup * count),
        words);
  if (cpu.arch != Arch::AArch64) return part;
  return b.CreateBitCast(part,
                         llvm::FixedVectorType::get(b.getInt8Ty(), static_cast<unsigned>(kGroup * count)));
}

// Every second byte as i16, from the first or the second on.
Value* halfOf(Builder& b, Value* words, bool isSignedByte, bool odd) {
  const unsigned count = 2 * static_cast<unsigned>(lanesOf(words));
  llvm::Type* type = llvm::FixedVectorType::get(b.getInt16Ty(), count);
  Value *x = b.CreateBitCast(words, type), *eight = llvm::ConstantInt::get(type, 8);
  if (!isSignedByte) return odd ? b.CreateLShr(x, eight) : b.CreateAnd(x, llvm::ConstantInt::get(type, 255));
  return b.CreateAShr(odd ? x : b.CreateShl(x, eight), eight);
}

Value* emitPairs(Builder& b, const Instruction& with, UOp node, Value* sum, Value* x, Value* y) {
  for (const bool odd : {false, true}) {
    Value* a = halfOf(b, x, isSigned(node.src(0).dtype()), odd);
    Value* other = halfOf(b, y, isSigned(node.src(1).dtype()), odd);
    sum = b.CreateAdd(sum, b.CreateIntrinsic(with.id, {}, {a, other}));
  }
  return sum;
}

Value* emitInstruction(Builder& b, const CpuTarget& cpu, const Instruction& with, UOp node, Value* x,
                       Value* y, Value* sum) {
  if (with.swaps) std::swap(x, y);
  const int lanes = lanesOf(sum);
  Value* result = lanes == with.lanes ? nullptr : llvm::PoisonValue::get(sum->getType());
  for (int first = 0; first < lanes; first += with.lanes) {
    Value* part = result ? lanesFrom(b, sum, first, with.lanes) : sum;
    Value *a = factorOf(b, cpu, x, first, with.lanes), *other = factorOf(b, cpu, y, first, with.lanes);
    llvm::SmallVector<llvm::Type*, 2> types;
    if (cpu.arch == Arch::AArch64) types = {part->getType(), a->getType()};
    Value* dot = with.pairs ? emitPairs(b, with, node, part, a, other)
                            : b.CreateIntrinsic(with.id, types, {part, a, other});
    if (result == nullptr) return dot;
    llvm::SmallVector<int> spread(static_cast<size_t>(lanes), -1), mask;
    for (int i = 0; i < with.lanes; ++i) spread[static_cast<size_t>(i)] = i;
    for (int i = 0; i < lanes; ++i)
      mask.push_back(i >= first && i < first + with.lanes ? lanes + i - first : i);
    result = b.CreateShuffleVector(result, b.CreateShuffleVector(dot, spread), mask);
  }
  return result;
}

}  // namespace

Value* emitDot(Builder& b, const CpuTarget& cpu, UOp node, llvm::ArrayRef<Value*> in) {
  const int group = static_cast<int>(node.argAs<SlotArg>().slot), lanes = node.lanes();
  const Instruction with = instructionFor(cpu, node.src(0).dtype(), node.src(1).dtype(), lanes);
  if (group == kGroup && with.lanes > 0) return emitInstruction(b, cpu, with, node, in[0], in[1], in[2]);
  Value* sum = in[2];
  for (int j = 0; j < group; ++j) {
    const auto nth = [&](int k) {  // the j-th factor of every lane
      Value* bytes = in[static_cast<size_t>(k)];
      const int count = lanesOf(bytes) / group;
      Value* part = count == 1 ? b.CreateExtractElement(bytes, static_cast<uint64_t>(j))
                               : lanesFrom(b, bytes, j, count, group);
      part = b.CreateIntCast(part, count == 1 ? sum->getType()->getScalarType() : sum->getType(),
                             isSigned(node.src(static_cast<size_t>(k)).dtype()));
      return count == 1 && lanes > 1 ? b.CreateVectorSplat(static_cast<unsigned>(lanes), part) : part;
    };
    sum = b.CreateAdd(sum, b.CreateMul(nth(0), nth(1)));
  }
  return sum;
}

}  // namespace svod
