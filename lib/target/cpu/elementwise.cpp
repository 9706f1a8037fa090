#include "target/cpu/elementwise.h"

#include <llvm/IR/Intrinsics.h>

#include "target/cpu/scaleb.h"

namespace svod {

namespace {

using llvm::CmpInst;
using llvm::Instruction;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

// The four ways the same op is spelled. Bool counts as a one-bit unsigned integer except where the table
// says.
enum class Kind : uint8_t { Signed, Unsigned, Float, Bool };

Kind kindOf(DType d) {
  if (isFloat(d)) return Kind::Float;
  if (d == DType::Bool) return Kind::Bool;
  return isSigned(d) ? Kind::Signed : Kind::Unsigned;
}

constexpr auto kNoInstruction = Instruction::BinaryOpsEnd;
struct BinaryRow {
  Op op;
  Instruction::BinaryOps byKind[4];  // indexed by Kind
};
constexpr BinaryRow kBinary[] = {
    {Op::Add, {Instruction::Add, Instruction::Add, Instruction::FAdd, Instruction::Or}},
    {Op::Sub, {Instruction::Sub, Instruction::Sub, Instruction::FSub, Instruction::Xor}},
    {Op::Mul, {Instruction::Mul, Instruction::Mul, Instruction::FMul, Instruction::And}},
    {Op::Fdiv, {kNoInstruction, kNoInstruction, Instruction::FDiv, kNoInstruction}},
    {Op::Cdiv, {Instruction::SDiv, Instruction::UDiv, kNoInstruction, Instruction::UDiv}},
    {Op::Cmod, {Instruction::SRem, Instruction::URem, kNoInstruction, Instruction::URem}},
    {Op::Shl, {Instruction::Shl, Instruction::Shl, kNoInstruction, Instruction::Shl}},
    {Op::Shr, {Instruction::AShr, Instruction::LShr, kNoInstruction, Instruction::LShr}},
    {Op::And, {Instruction::And, Instruction::And, kNoInstruction, Instruction::And}},
    {Op::Or, {Instruction::Or, Instruction::Or, kNoInstruction, Instruction::Or}},
    {Op::Xor, {Instruction::Xor, Instruction::Xor, kNoInstruction, Instruction::Xor}},
};

struct CompareRow {
  Op op;
  CmpInst::Predicate byKind[4];
};
constexpr CompareRow kCompare[] = {
    {Op::Lt, {CmpInst::ICMP_SLT, CmpInst::ICMP_ULT, CmpInst::FCMP_OLT, CmpInst::ICMP_ULT}},
    {Op::Le, {CmpInst::ICMP_SLE, CmpInst::ICMP_ULE, CmpInst::FCMP_OLE, CmpInst::ICMP_ULE}},
    {Op::Eq, {CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_OEQ, CmpInst::ICMP_EQ}},
    {Op::Ne, {CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_UNE, CmpInst::ICMP_NE}},
};

template <class Row, size_t N>
const Row* findRow(const Row (&table)[N], Op op) {
  for (const Row& row : table)
    if (row.op == op) return &row;
  return nullptr;
}

// The larger (or smaller) of two values. A float compare is false for NaN, so NaN in `a` falls through the
// first select and NaN in `b` is put in by the second.
Value* emitExtreme(Builder& b, Op op, DType dtype, Value* x, Value* y) {
  const bool isMax = op == Op::Max;
  switch (kindOf(dtype)) {
    case Kind::Bool: return isMax ? b.CreateOr(x, y) : b.CreateAnd(x, y);
    case Kind::Signed: return b.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, x, y);
    case Kind::Unsigned: return b.CreateBinaryIntrinsic(isMax ? llvm::Intrinsic::umax : llvm::Intrinsic::umin, x, y);
    case Kind::Float: break;
  }
  Value* better = isMax ? b.CreateFCmpOLT(x, y) : b.CreateFCmpOLT(y, x);
  return b.CreateSelect(b.CreateFCmpUNO(y, y), y, b.CreateSelect(better, y, x));
}

// Division by a vector that is no constant, lane by lane: that is how it runs anyway, and LLVM 19 folds
// x % select(.., constants with a zero lane) as if one lane that divides by zero made all lanes undefined.
Value* emitDivision(Builder& b, Instruction::BinaryOps instruction, Value* x, Value* y) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (vector == nullptr || llvm::isa<llvm::Constant>(y)) return b.CreateBinOp(instruction, x, y);
  Value* result = llvm::PoisonValue::get(x->getType());
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    result = b.CreateInsertElement(
        result, b.CreateBinOp(instruction, b.CreateExtractElement(x, i), b.CreateExtractElement(y, i)), i);
  return result;
}

Value* emitBinary(Builder& b, Op op, DType dtype, Value* x, Value* y) {
  if (op == Op::Max || op == Op::Min) return emitExtreme(b, op, dtype, x, y);
  const BinaryRow* row = findRow(kBinary, op);
  if (row == nullptr) return nullptr;
  const auto instruction = row->byKind[static_cast<size_t>(kindOf(dtype))];
  if (instruction == kNoInstruction) return nullptr;
  if ((op == Op::Shl || op == Op::Shr) && x->getType() != y->getType()) y = b.CreateZExtOrTrunc(y, x->getType());
  if (op == Op::Cdiv || op == Op::Cmod) return emitDivision(b, instruction, x, y);
  return b.CreateBinOp(instruction, x, y);
}

// Rounding for CPUs without the instruction. Adding and subtracting 2^fraction rounds to nearest even; the
// others correct that result by one. Numbers from 2^fraction on, infinities and NaN are integers already.
Value* emitRoundingBySums(Builder& b, Op op, DType dtype, Value* x) {
  const llvm::IRBuilderBase::FastMathFlagGuard exact(b);
  b.clearFastMathFlags();
  const auto constant = [&](double v) { return llvm::ConstantFP::get(x->getType(), v); };
  Value* limit = constant(static_cast<double>(int64_t{1} << info(dtype).fractionBits));
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* rounded = b.CreateFSub(b.CreateFAdd(magnitude, limit), limit);
  if (op == Op::Trunc)
    rounded = b.CreateSelect(b.CreateFCmpOGT(rounded, magnitude), b.CreateFSub(rounded, constant(1)), rounded);
  rounded = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, x);
  if (op == Op::Floor)
    rounded = b.CreateSelect(b.CreateFCmpOGT(rounded, x), b.CreateFSub(rounded, constant(1)), rounded);
  if (op == Op::Ceil)
    rounded = b.CreateSelect(b.CreateFCmpOLT(rounded, x), b.CreateFAdd(rounded, constant(1)), rounded);
  rounded = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, x);
  return b.CreateSelect(b.CreateFCmpOLT(magnitude, limit), rounded, x);
}

Value* emitUnary(Builder& b, const CpuTarget& cpu, Op op, DType dtype, Value* x) {
  const Kind kind = kindOf(dtype);
  if (op == Op::Not) return kind == Kind::Float ? nullptr : b.CreateNot(x);
  if (op == Op::Neg) return kind == Kind::Float ? b.CreateFNeg(x) : kind == Kind::Bool ? x : b.CreateNeg(x);
  if (op == Op::Abs && kind == Kind::Signed)
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse());  // false: MIN is not poison
  if (op == Op::Abs && kind != Kind::Float) return x;
  if (kind != Kind::Float) return nullptr;
  switch (op) {
    case Op::Abs: return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case Op::Sqrt: return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case Op::Recip: return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0), x);
    case Op::Trunc:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round: break;
    default: return nullptr;
  }
  if (!cpu.hasRounding()) return emitRoundingBySums(b, op, dtype, x);
  const auto intrinsic = op == Op::Trunc   ? llvm::Intrinsic::trunc
                         : op == Op::Floor ? llvm::Intrinsic::floor
                         : op == Op::Ceil  ? llvm::Intrinsic::ceil
                                           : llvm::Intrinsic::roundeven;
  return b.CreateUnaryIntrinsic(intrinsic, x);
}

// Half precision exists as a conversion from and to f32 only; anything else would be a call into a library.
bool canCast(const CpuTarget& cpu, DType from, DType to) {
  if (from != DType::F16 && to != DType::F16) return true;
  return (from == DType::F32 || to == DType::F32) && (cpu.arch == Arch::AArch64 || cpu.has("f16c"));
}

Value* emitCast(Builder& b, const CpuTarget& cpu, DType from, DType to, llvm::Type* type, Value* x) {
  if (!canCast(cpu, from, to)) return nullptr;
  const bool unsignedFrom = isUnsigned(from) || from == DType::Bool;
  if (to == DType::Bool) {
    Value* zero = llvm::Constant::getNullValue(x->getType());
    return isFloat(from) ? b.CreateFCmpUNE(x, zero) : b.CreateICmpNE(x, zero);
  }
  if (isFloat(from) && isFloat(to)) return b.CreateFPCast(x, type);
  if (isFloat(from)) return isUnsigned(to) ? b.CreateFPToUI(x, type) : b.CreateFPToSI(x, type);
  if (isFloat(to)) return unsignedFrom ? b.CreateUIToFP(x, type) : b.CreateSIToFP(x, type);
  return b.CreateIntCast(x, type, !unsignedFrom);
}

// a * b + c of f32 rounded once, for CPUs without the instruction. The product is exact in f64. The sum is
// rounded to odd there (an inexact one gets its last bit set, toward the part that was lost), so that
// rounding it to f32 sees on which side of a tie the exact sum lies.
Value* emitMulaccInDouble(Builder& b, llvm::ArrayRef<Value*> in) {
  const llvm::IRBuilderBase::FastMathFlagGuard exact(b);
  b.clearFastMathFlags();
  llvm::Type* f64 = in[0]->getType()->getWithNewType(b.getDoubleTy());
  llvm::Type* i64 = in[0]->getType()->getWithNewType(b.getInt64Ty());
  Value* product = b.CreateFMul(b.CreateFPExt(in[0], f64), b.CreateFPExt(in[1], f64));
  Value* addend = b.CreateFPExt(in[2], f64);
  Value* sum = b.CreateFAdd(product, addend);
  Value* addendPart = b.CreateFSub(sum, product);
  Value* lost = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, addendPart)), b.CreateFSub(addend, addendPart));
  Value *zero = llvm::ConstantFP::get(f64, 0.0), *one = llvm::ConstantInt::get(i64, 1);
  Value* bits = b.CreateBitCast(sum, i64);
  Value* isEven = b.CreateICmpEQ(b.CreateAnd(bits, one), llvm::ConstantInt::get(i64, 0));
  Value* outward = b.CreateICmpEQ(b.CreateFCmpOGT(lost, zero), b.CreateFCmpOGT(sum, zero));
  Value* odd = b.CreateSelect(outward, b.CreateAdd(bits, one), b.CreateSub(bits, one));
  Value* inexact = b.CreateAnd(b.CreateFCmpONE(lost, zero), isEven);
  return b.CreateFPTrunc(b.CreateBitCast(b.CreateSelect(inexact, odd, bits), f64), in[0]->getType());
}

Value* emitMulacc(Builder& b, const CpuTarget& cpu, DType dtype, llvm::ArrayRef<Value*> in) {
  if (!isFloat(dtype)) return emitBinary(b, Op::Add, dtype, emitBinary(b, Op::Mul, dtype, in[0], in[1]), in[2]);
  if (!cpu.hasFma()) return dtype == DType::F32 ? emitMulaccInDouble(b, in) : nullptr;
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {in[0]->getType()}, {in[0], in[1], in[2]});
}

}  // namespace

llvm::Type* llvmType(llvm::LLVMContext& context, DType dtype, int lanes) {
  llvm::Type* scalar = nullptr;
  if (dtype == DType::F16) scalar = llvm::Type::getHalfTy(context);
  if (dtype == DType::BF16) scalar = llvm::Type::getBFloatTy(context);
  if (dtype == DType::F32) scalar = llvm::Type::getFloatTy(context);
  if (dtype == DType::F64) scalar = llvm::Type::getDoubleTy(context);
  if (!isFloat(dtype) && dtype != DType::Void)
    scalar = llvm::Type::getIntNTy(context, static_cast<unsigned>(info(dtype).bits));
  return scalar == nullptr || lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes));
}

llvm::Type* llvmMemoryType(llvm::LLVMContext& context, DType dtype, int lanes) {
  return llvmType(context, dtype == DType::Bool ? DType::U8 : dtype, lanes);
}

Value* emitElementwise(Builder& b, const CpuTarget& cpu, UOp node, llvm::ArrayRef<Value*> in) {
  const Op op = node.op();
  const DType from = node.src(0).dtype();
  llvm::Type* type = llvmType(b.getContext(), node.dtype(), node.lanes());
  if (op == Op::Cast) return emitCast(b, cpu, from, node.dtype(), type, in[0]);
  if (op == Op::Bitcast) return b.CreateBitCast(in[0], type);
  if (op == Op::Where) return b.CreateSelect(in[0], in[1], in[2]);
  if (op == Op::Scaleb) return emitScaleb(b, cpu, in[0], in[1]);
  if (op == Op::Mulacc) return emitMulacc(b, cpu, from, in);
  if (const CompareRow* row = findRow(kCompare, op))
    return b.CreateCmp(row->byKind[static_cast<size_t>(kindOf(from))], in[0], in[1]);
  if (in.size() == 1) return emitUnary(b, cpu, op, from, in[0]);
  return in.size() == 2 ? emitBinary(b, op, from, in[0], in[1]) : nullptr;
}

Value* emitCombine(Builder& b, Op op, DType dtype, Value* x, Value* y) {
  const bool known = op == Op::Add || op == Op::Mul || op == Op::Max || op == Op::Min;
  return known ? emitBinary(b, op, dtype, x, y) : nullptr;
}

}  // namespace svod
