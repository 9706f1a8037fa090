// Elementwise composites.
#include <cmath>
#include <limits>
#include <numbers>

#include "frontend/lower/common.h"

namespace svod {

namespace {

// x ** n for n >= 0 by repeated squaring.
Tensor integerPower(Tensor x, int64_t n) {
  Tensor result;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = result ? result * x : x;
    if (n > 1) x = x * x;
  }
  return result ? result : x * 0 + 1;
}

// x ** n by repeated squaring over all bits of n. Only 1 and -1 have powers other than 0 below 0.
Tensor anyIntegerPower(Tensor x, Tensor n) {
  if (!x || !n) return {};
  DType dtype = commonDType(std::vector<Tensor>{x, n});
  if (dtype == DType::Bool) dtype = DType::I32;
  x = cast(x, dtype);
  if (n.dtype() == DType::Bool) n = cast(n, DType::U8);
  int bits = info(n.dtype()).bits - (isSigned(n.dtype()) ? 1 : 0);
  Tensor one = x * 0 + 1, power = one, square = x;
  for (int i = 0; i < bits; ++i) {
    Tensor bit = both(elementwise(Op::Shr, {n, n * 0 + i}), 1);
    power = where(ne(bit, 0), power * square, power);
    if (i + 1 < bits) square = square * square;
  }
  if (isUnsigned(n.dtype())) return power;
  Tensor isOdd = ne(both(n, 1), 0);
  Tensor unit = where(eq(x, 1), one, where(eq(x, -1), where(isOdd, -one, one), 0));
  return where(lt(n, 0), isUnsigned(dtype) ? where(eq(x, 1), one, 0) : unit, power);
}

Tensor floatOperand(Tensor a, Tensor b) { return isFloat(commonDType(std::vector<Tensor>{a, b})) ? a : Tensor(); }

}  // namespace

Results lowerPow(OpCall& call) {
  Tensor a = call.arg(0), b = call.arg(1);
  if (isFloat(commonDType(call.operands))) {
    bool isSquare = b.isLiteral() && (isInt(b.dtype()) ? b.node().isConst(2) : b.node().constant().asFloat() == 2);
    return isSquare ? a * a : pow(a, b);  // squaring is correctly rounded, as pow is
  }
  constexpr int64_t kUnrolled = 64;
  if (b.isLiteral() && b.node().constInt() >= 0 && b.node().constInt() <= kUnrolled)
    return integerPower(a, b.node().constInt());
  return anyIntegerPower(a, b);
}

Results lowerCdiv(OpCall& call) {
  if (floatOperand(call.arg(0), call.arg(1))) return elementwise(Op::Trunc, {call.arg(0) / call.arg(1)});
  return elementwise(Op::Cdiv, call.operands);
}

Results lowerCmod(OpCall& call) {
  Tensor a = call.arg(0), b = call.arg(1);
  return elementwise(floatOperand(a, b) ? Op::Fmod : Op::Cmod, call.operands);
}

Results lowerFloordiv(OpCall& call) {
  if (floatOperand(call.arg(0), call.arg(1))) return floor(call.arg(0) / call.arg(1));
  return elementwise(Op::Floordiv, call.operands);
}

Results lowerFloormod(OpCall& call) {
  Tensor a = call.arg(0), b = call.arg(1);
  if (!floatOperand(a, b)) return elementwise(Op::Floormod, call.operands);
  Tensor rest = elementwise(Op::Fmod, {a, b}), isBelow = lt(b, 0);  // exact; the sum rounds
  Tensor other = where(ne(lt(rest, 0), isBelow), rest + b, rest);
  return where(eq(rest, 0), where(isBelow, -abs(rest), abs(rest)), other);
}

Results lowerMulacc(OpCall& call) { return call.arg(0) * call.arg(1) + call.arg(2); }

Results lowerSign(OpCall& call) {
  Tensor x = call.arg(0);
  if (isUnsigned(x.dtype()) || x.dtype() == DType::Bool) return cast(ne(x, 0), x.dtype());
  Tensor zeroOrNan = where(eq(x, 0), 0, x);
  return where(gt(x, 0), 1, where(lt(x, 0), -1, zeroOrNan));
}

Results lowerSquare(OpCall& call) { return call.arg(0) * call.arg(0); }
Results lowerRsqrt(OpCall& call) { return narrowed(call, recip(sqrt(wideArg(call)))); }

Results lowerClip(OpCall& call) {
  Tensor x = call.arg(0);
  if (call.has("min")) x = max(x, call.number("min"));
  if (call.has("max")) x = min(x, call.number("max"));
  return x;
}

Results lowerLog10(OpCall& call) { return narrowed(call, log(wideArg(call)) * (1 / std::numbers::ln10)); }

Results lowerExpm1(OpCall& call) { return narrowed(call, expm1Of(wideArg(call))); }
Results lowerLog1p(OpCall& call) { return narrowed(call, log1pOf(wideArg(call))); }
Results lowerSinh(OpCall& call) { return narrowed(call, sinhOf(wideArg(call))); }

// Halves inside the exponential, so that it overflows only where the result does.
Results lowerCosh(OpCall& call) {
  Tensor root = exp(abs(wideArg(call)) * 0.5);
  return narrowed(call, (root * 0.5) * root + (recip(root) * 0.5) * recip(root));
}

Results lowerShl(OpCall& call) {
  Tensor a = call.arg(0);
  Tensor shifted = elementwise(Op::Shl, call.operands);
  return a.isLiteral() ? shifted : cast(shifted, a.dtype());
}

Results lowerShr(OpCall& call) {
  Tensor a = call.arg(0);
  Tensor shifted = elementwise(Op::Shr, call.operands);
  return a.isLiteral() ? shifted : cast(shifted, a.dtype());
}

Results lowerGt(OpCall& call) { return gt(call.arg(0), call.arg(1)); }
Results lowerGe(OpCall& call) { return ge(call.arg(0), call.arg(1)); }
Results lowerIsNan(OpCall& call) { return isNan(call.arg(0)); }

Results lowerIsInf(OpCall& call) {
  Tensor x = call.arg(0);
  if (!isFloat(x.dtype()) || !floatFormat(x.dtype()).hasInfinity()) return both(eq(x, x), false);
  return eq(abs(x), std::numeric_limits<double>::infinity());
}

Results lowerIsFinite(OpCall& call) {
  Tensor x = call.arg(0);
  if (!isFloat(x.dtype()) || !floatFormat(x.dtype()).hasInfinity()) return eq(x, x);
  return lt(abs(x), std::numeric_limits<double>::infinity());
}

Results lowerWhere(OpCall& call) { return where(call.arg(0), call.arg(1), call.arg(2)); }

// Registers may hold more digits of f16 and bf16 than they have. A cast to the same dtype asks for those it has, as one
// there and back does.
Results lowerCast(OpCall& call) {
  Tensor x = call.arg(0);
  const DType to = call.dtype("dtype");
  const bool rounds = (to == DType::F16 || to == DType::BF16) && x.dtype() == to && !x.isLiteral();
  return cast(rounds ? cast(x, DType::F32) : x, to);
}

namespace {

// Each element becomes `count` narrower ones, low bytes first.
Tensor narrowBits(GraphBuilder& b, Tensor x, DType to) {
  int bits = info(to).bits, count = info(x.dtype()).bits / bits;
  Tensor shifts = cast(b.iota(b.dim(count)), x.dtype()) * bits;
  Tensor parts = cast(elementwise(Op::Shr, {unsqueeze(x, -1), shifts}), to);
  Dims dims = x.dims();
  dims.set(-1, dims[-1] * count);
  return reshape(parts, dims);
}

// Each group of `count` elements along the last axis becomes one wider element.
Tensor widenBits(GraphBuilder& b, OpCall& call, Tensor x, DType to) {
  int bits = info(x.dtype()).bits, count = info(to).bits / bits;
  Dims dims = x.dims();
  Dim groups = floordiv(dims[-1], count);
  if (groups * count != dims[-1])
    return call.fail(Diag::ShapeMismatch,
                     "the last dim of " + describe(x) + " is not a multiple of " + std::to_string(count));
  dims.set(-1, groups);
  dims.add(b.dim(count));
  Tensor shifts = cast(b.iota(b.dim(count)), to) * bits;
  Tensor parts = elementwise(Op::Shl, {cast(reshape(x, dims), to), shifts});
  return reduce(Op::Add, parts, {{-1}}, false);
}

}  // namespace

Results lowerBitcast(OpCall& call) {
  Tensor x = call.arg(0);
  DType to = call.dtype("dtype");
  if (x.isLiteral()) x = cast(x, commonDType({&x, 1}));
  if (x.dtype() == DType::Bool || to == DType::Bool || to == DType::Void || to == DType::Index)
    return call.fail(Diag::DTypeMismatch, "cannot view the bits of " + describe(x) + " as " + std::string(toText(to)),
                     "bool has no fixed bits; use cast");
  if (info(x.dtype()).bits == info(to).bits) return bitcast(x, to);
  if (!call.require(x.rank() > 0, "another size needs a last dim to scale")) return Tensor();
  Tensor bits = bitcast(x, unsignedOf(x.dtype()));
  bool isWider = info(to).bits > info(x.dtype()).bits;
  return bitcast(isWider ? widenBits(call.b, call, bits, unsignedOf(to)) : narrowBits(call.b, bits, unsignedOf(to)),
                 to);
}

}  // namespace svod
