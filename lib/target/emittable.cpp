#include <algorithm>

#include "target/emittable.h"

namespace svod {

namespace {

constexpr Emittable kEmittable[] = {
    {Op::Sink, OnVoid | OnAny},
    {Op::Group, OnVoid | OnAny},
    {Op::After, OnVoid | OnAny},
    {Op::End, OnVoid | OnAny},
    {Op::Buffer, OnInt},
    {Op::Param, OnInt},
    {Op::Var, OnAny},
    {Op::Const, OnAny},
    {Op::Index, OnInt | OnFloat},
    {Op::Load, OnAny},
    {Op::Store, OnInt | OnFloat},
    {Op::Reduce, OnInt | OnFloat},
    {Op::Range, OnInt},
    {Op::Special, OnInt, true},
    {Op::Barrier, OnVoid, true},
    {Op::Stack, OnAny},
    {Op::Ramp, OnInt},
    {Op::Lane, OnAny},
    {Op::Neg, OnInt | OnFloat},
    {Op::Not, OnBool | OnInt},
    {Op::Abs, OnFloat},
    {Op::Sqrt, OnFloat},
    {Op::Trunc, OnFloat},
    {Op::Floor, OnFloat},
    {Op::Ceil, OnFloat},
    {Op::Round, OnFloat},
    {Op::Cast, OnAny},
    {Op::Bitcast, OnInt | OnFloat},
    {Op::Add, OnInt | OnFloat},
    {Op::Sub, OnInt | OnFloat},
    {Op::Mul, OnInt | OnFloat},
    {Op::Fdiv, OnFloat},
    {Op::Max, OnInt},
    {Op::Min, OnInt},
    {Op::Cdiv, OnInt},
    {Op::Cmod, OnInt},
    {Op::Shl, OnInt},
    {Op::Shr, OnInt},
    {Op::And, OnBool | OnInt},
    {Op::Or, OnBool | OnInt},
    {Op::Xor, OnBool | OnInt},
    {Op::Lt, OnInt | OnFloat},
    {Op::Le, OnInt | OnFloat},
    {Op::Eq, OnInt | OnFloat},
    {Op::Ne, OnInt | OnFloat},
    {Op::Where, OnAny},
    {Op::Mulacc, OnFloat},
    {Op::Prefetch, OnAny},
    {Op::Dot, OnInt | OnFloat},
    {Op::Scaleb, OnFloat},
    {Op::Wmma, OnInt | OnFloat, true},
    {Op::Gpu, OnVoid | OnAny, true},
};

const Emittable* rowOf(Op op) {
  auto row = std::ranges::find(kEmittable, op, &Emittable::op);
  return row == std::end(kEmittable) ? nullptr : row;
}

// The dtype that decides: what is stored, compared or computed on.
DType operandOf(UOp n) {
  if (n.op() == Op::Where || n.op() == Op::Store) return n.src(1).dtype();
  bool own = n.srcCount() == 0 || n.op() == Op::Load || n.op() == Op::Range || n.op() == Op::Index;
  return own ? n.dtype() : n.src(0).dtype();
}

// f16 may stand between a bitcast from or to u16 and a cast to or from f32.
bool isNativeHalf(UOp n) {
  bool produces = n.dtype() == DType::F16 && (n.op() == Op::Cast || n.op() == Op::Bitcast);
  bool consumes = n.srcCount() == 1 && n.src(0).dtype() == DType::F16 && (n.op() == Op::Cast || n.op() == Op::Bitcast);
  return produces || consumes;
}

bool floatExtremum(UOp n) {
  if (n.op() != Op::Reduce || !isFloat(n.dtype())) return false;
  Op op = n.argAs<ReduceArg>().op;
  return op == Op::Max || op == Op::Min;
}

std::string reached(UOp n, const LinearKernel& kernel) {
  std::string text = "op " + std::string(toText(n.op()));
  if (operandOf(n) != DType::Void) text += " of " + std::string(toText(operandOf(n)));
  return text + " reached print in kernel " + kernel.name + "; legalize must remove it";
}

}  // namespace

OperandKind operandKind(DType d) {
  if (d == DType::Bool) return OnBool;
  if (d == DType::F32 || d == DType::F64) return OnFloat;
  return isInt(d) && d != DType::Index ? OnInt : OnVoid;
}

std::span<const Emittable> emittableOps() { return kEmittable; }

Status checkEmittable(const LinearKernel& kernel, bool nativeF16, bool gpu) {
  for (UOp n : kernel.ops) {
    const Emittable* row = rowOf(n.op());
    bool legal = row != nullptr && (gpu || !row->gpuOnly) && (operandKind(operandOf(n)) & row->operands) != 0;
    bool known = n.dtype() == DType::Void || operandKind(n.dtype()) != OnVoid;
    if (floatExtremum(n)) legal = false;
    if ((legal && known) || (nativeF16 && isNativeHalf(n))) continue;
    return fail(Diag::Verify, reached(n, kernel),
                "this is a bug in lib/lower; svodc --print-after=legalize shows the graph");
  }
  return {};
}

}  // namespace svod
