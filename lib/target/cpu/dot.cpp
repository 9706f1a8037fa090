#include "target/cpu/dot.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <utility>

namespace svod {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

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

// The widest of three x86 instructions, for registers of 64, 32 and 16 bytes, that whole registers of `lanes` words
// fill.
Instruction widest(const CpuTarget& cpu, int lanes, const llvm::Intrinsic::ID (&ids)[3], bool has64) {
  if (has64 && cpu.vectorBytes >= 64 && lanes % 16 == 0) return {ids[0], 16};
  if (lanes % 8 == 0) return {ids[1], 8};
  return lanes % 4 == 0 ? Instruction{ids[2], 4} : Instruction{};
}

// x86 before VNNI.
Instruction pairsFor(const CpuTarget& cpu, int lanes) {
  if (cpu.has("avx512bw") && cpu.vectorBytes >= 64 && lanes % 16 == 0)
    return {llvm::Intrinsic::x86_avx512_pmaddw_d_512, 16, false, true};
  if (cpu.has("avx2") && lanes % 8 == 0) return {llvm::Intrinsic::x86_avx2_pmadd_wd, 8, false, true};
  return lanes % 4 == 0 ? Instruction{llvm::Intrinsic::x86_sse2_pmadd_wd, 4, false, true} : Instruction{};
}

Instruction instructionForBf16(const CpuTarget& cpu, int lanes) {
  if (!cpu.hasBf16Dots() || lanes % 4 != 0) return {};
  if (cpu.arch == Arch::AArch64) return {llvm::Intrinsic::aarch64_neon_bfdot, 4};
  return widest(cpu, lanes,
                {llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256,
                 llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128},
                true);
}

Instruction instructionForBytes(const CpuTarget& cpu, DType a, DType b, int lanes) {
  const bool alike = isSigned(a) == isSigned(b);
  if (cpu.arch == Arch::AArch64) {
    if (lanes % 4 != 0 || !(alike ? cpu.hasLikeDots() : cpu.hasMixedDots())) return {};
    if (!alike) return {llvm::Intrinsic::aarch64_neon_usdot, 4, isSigned(a)};
    return {isSigned(a) ? llvm::Intrinsic::aarch64_neon_sdot : llvm::Intrinsic::aarch64_neon_udot, 4};
  }
  if (cpu.arch != Arch::X86_64) return {};
  if (alike || cpu.hasLikeDots()) return pairsFor(cpu, lanes);
  Instruction with = widest(cpu, lanes,
                            {llvm::Intrinsic::x86_avx512_vpdpbusd_512, llvm::Intrinsic::x86_avx512_vpdpbusd_256,
                             llvm::Intrinsic::x86_avx512_vpdpbusd_128},
                            cpu.has("avx512vnni"));
  with.swaps = isSigned(a);
  return with;
}

// None where the factors are not of one dtype that instructions take.
Instruction instructionFor(const CpuTarget& cpu, UOp node) {
  const DType a = node.src(0).dtype(), b = node.src(1).dtype();
  if (static_cast<int>(node.argAs<SlotArg>().slot) != dotGroup(a)) return {};
  return a == DType::BF16 ? instructionForBf16(cpu, node.lanes()) : instructionForBytes(cpu, a, b, node.lanes());
}

// Groups of `count` lanes from lane `first` on, each in a word of four bytes; one group is repeated.
Value* wordsOf(Builder& b, Value* groups, int groupSize, int first, int count) {
  llvm::Type *i32 = b.getInt32Ty(), *words = llvm::FixedVectorType::get(i32, static_cast<unsigned>(count));
  if (lanesOf(groups) == groupSize)
    return b.CreateVectorSplat(static_cast<unsigned>(count), b.CreateBitCast(groups, i32));
  const bool isWhole = lanesOf(groups) == groupSize * count;
  return b.CreateBitCast(isWhole ? groups : lanesFrom(b, groups, groupSize * first, groupSize * count), words);
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

// x86 takes words, or a vector of what they hold; AArch64 the latter, and names the types.
Value* emitCall(Builder& b, const CpuTarget& cpu, const Instruction& with, UOp node, Value* sum, Value* x, Value* y) {
  const DType factor = node.src(0).dtype();
  if (factor == DType::BF16 || cpu.arch == Arch::AArch64) {
    llvm::Type* element = factor == DType::BF16 ? b.getBFloatTy() : static_cast<llvm::Type*>(b.getInt8Ty());
    llvm::Type* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(dotGroup(factor) * with.lanes));
    x = b.CreateBitCast(x, type), y = b.CreateBitCast(y, type);
  }
  llvm::SmallVector<llvm::Type*, 2> types;
  if (cpu.arch == Arch::AArch64) types = {sum->getType(), x->getType()};
  return b.CreateIntrinsic(with.id, types, {sum, x, y});
}

Value* emitInstruction(Builder& b, const CpuTarget& cpu, const Instruction& with, UOp node, Value* x, Value* y,
                       Value* sum) {
  if (with.swaps) std::swap(x, y);
  const int lanes = lanesOf(sum), group = dotGroup(node.src(0).dtype());
  Value* result = lanes == with.lanes ? nullptr : llvm::PoisonValue::get(sum->getType());
  for (int first = 0; first < lanes; first += with.lanes) {
    Value* part = result ? lanesFrom(b, sum, first, with.lanes) : sum;
    Value *a = wordsOf(b, x, group, first, with.lanes), *other = wordsOf(b, y, group, first, with.lanes);
    Value* dot = with.pairs ? emitPairs(b, with, node, part, a, other) : emitCall(b, cpu, with, node, part, a, other);
    if (result == nullptr) return dot;
    llvm::SmallVector<int> spread(static_cast<size_t>(lanes), -1), mask;
    for (int i = 0; i < with.lanes; ++i) spread[static_cast<size_t>(i)] = i;
    for (int i = 0; i < lanes; ++i) mask.push_back(i >= first && i < first + with.lanes ? lanes + i - first : i);
    result = b.CreateShuffleVector(result, b.CreateShuffleVector(dot, spread), mask);
  }
  return result;
}

Value* addProduct(Builder& b, const CpuTarget& cpu, Value* sum, Value* x, Value* y) {
  if (!sum->getType()->isFPOrFPVectorTy()) return b.CreateAdd(sum, b.CreateMul(x, y));
  if (cpu.hasFma()) return b.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, sum});
  return b.CreateFAdd(sum, b.CreateFMul(x, y));
}

}  // namespace

Value* emitDot(Builder& b, const CpuTarget& cpu, UOp node, llvm::ArrayRef<Value*> in) {
  const int group = static_cast<int>(node.argAs<SlotArg>().slot), lanes = node.lanes();
  const Instruction with = instructionFor(cpu, node);
  if (with.lanes > 0) return emitInstruction(b, cpu, with, node, in[0], in[1], in[2]);
  Value* sum = in[2];
  llvm::Type *type = sum->getType(), *scalar = type->getScalarType();
  for (int j = 0; j < group; ++j) {
    const auto nth = [&](size_t k) {  // the j-th factor of every lane
      const int count = lanesOf(in[k]) / group;
      Value* part =
          count == 1 ? b.CreateExtractElement(in[k], static_cast<uint64_t>(j)) : lanesFrom(b, in[k], j, count, group);
      llvm::Type* wide = count == 1 ? scalar : type;
      part =
          scalar->isFloatTy() ? b.CreateFPCast(part, wide) : b.CreateIntCast(part, wide, isSigned(node.src(k).dtype()));
      return count == 1 && lanes > 1 ? b.CreateVectorSplat(static_cast<unsigned>(lanes), part) : part;
    };
    sum = addProduct(b, cpu, sum, nth(0), nth(1));
  }
  return sum;
}

}  // namespace svod
