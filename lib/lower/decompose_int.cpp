// Integer and bool ops with the results of ops.def where hardware traps or is undefined.
#include <bit>

#include "lower/decompose_expr.h"

namespace svod::detail {

namespace {

bool canBe(UOp x, int64_t value) {
  if (x.isConst()) return x.constInt() == value;
  return x.bounds().min <= value && value <= x.bounds().max;
}
bool nonNegative(UOp x) { return isUnsigned(x.dtype()) || x.bounds().min >= 0; }

/// Exponent of a constant power of two; -1 for anything else.
int log2Of(UOp x) {
  if (!x.isConst()) return -1;
  auto value = static_cast<uint64_t>(x.constInt());
  bool positive = isUnsigned(x.dtype()) || x.constInt() > 0;
  return positive && std::has_single_bit(value) ? std::countr_zero(value) : -1;
}

// A divisor that neither traps nor overflows: 1 instead of 0, and instead of -1 under the smallest integer. Both
// x / 1 and x % 1 are then what MIN / -1 and MIN % -1 are defined to be.
Ex safeDivisor(Ex a, Ex b) {
  Ex bad{a.e, a.e->graph.boolean(false)};
  if (canBe(b, 0)) bad = b == 0;
  if (isSigned(a.dtype()) && canBe(b, -1) && canBe(a, minInt(a.dtype()))) {
    Ex smallest = a == static_cast<double>(minInt(a.dtype()));
    bad = bad | (smallest & (b == -1));
  }
  return where(bad, b.num(1), b);
}

Ex rawDivide(Op op, Ex a, Ex b) { return {a.e, a.e->graph.alu(op, {a.node, b.node})}; }

Ex allOnes(Ex x) { return {x.e, x.e->graph.constant(Scalar::ofInt(x.dtype(), -1))}; }

}  // namespace

UOp decomposeCdiv(Emitter& e, const Call& call) {
  Ex a{&e, call.src[0]}, b{&e, call.src[1]};
  bool divides = call.op == Op::Cdiv;
  if (b.node.isConst(0)) return divides ? allOnes(a) : a;
  if (isSigned(a.dtype()) && b.node.isConst(-1)) return divides ? -a : a.num(0);
  if (int k = log2Of(b); k >= 0 && nonNegative(a)) return divides ? a >> k : a & (b - 1);
  Ex safe = safeDivisor(a, b);
  Ex result = rawDivide(call.op, a, safe);
  if (!canBe(b, 0)) return result;
  return where(b == 0, divides ? allOnes(a) : a, result);
}

UOp decomposeFloordiv(Emitter& e, const Call& call) {
  Ex a{&e, call.src[0]}, b{&e, call.src[1]};
  bool divides = call.op == Op::Floordiv;
  if (int k = log2Of(b); k >= 0) return divides ? a >> k : a & (b - 1);
  if ((nonNegative(a) && nonNegative(b)) || b.node.isConst(0))
    return e.make(divides ? Op::Cdiv : Op::Cmod, call.dtype, call.src);
  Ex safe = safeDivisor(a, b);
  Ex quotient = rawDivide(Op::Cdiv, a, safe);
  Ex remainder = a - quotient * safe;
  Ex signsDiffer = b.node.bounds().min >= 0  ? remainder < 0
                   : b.node.bounds().max < 0 ? 0 < remainder
                                             : ((remainder ^ b) < 0) & (remainder != 0);
  Ex result = divides ? quotient - cast(signsDiffer, a.dtype()) : where(signsDiffer, remainder + b, remainder);
  if (!canBe(b, 0)) return result;
  return where(b == 0, divides ? allOnes(a) : a, result);
}

UOp decomposeShift(Emitter& e, const Call& call) {
  Ex a{&e, call.src[0]}, count{&e, call.src[1]};
  int width = info(a.dtype()).bits;
  Interval bounds = count.node.isConst() ? Interval{count.node.constInt(), count.node.constInt()} : count.node.bounds();
  if (bounds.min >= 0 && bounds.max < width) return {};
  bool signFill = call.op == Op::Shr && isSigned(a.dtype());
  Ex last = count.num(width - 1);
  Ex inRange = count < width;
  if (isSigned(count.dtype())) inRange = inRange & (0 <= count);
  Ex amount = signFill ? where(inRange, count, last) : count & last;
  Ex shifted{&e, e.graph.alu(call.op, {a.node, amount.node})};
  return signFill ? shifted : where(inRange, shifted, 0);
}

UOp decomposeIntAbs(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  return nonNegative(x) ? x : where(x < 0, -x, x);
}

UOp decomposeIntMulacc(Emitter& e, const Call& call) {
  Ex a{&e, call.src[0]}, b{&e, call.src[1]}, c{&e, call.src[2]};
  return a * b + c;
}

UOp decomposeThreefry(Emitter& e, const Call& call) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  auto low = [](Ex x) { return cast(x, DType::U32); };
  auto high = [&](Ex x) { return low(x >> 32); };
  Ex counter{&e, call.src[0]}, key{&e, call.src[1]};
  Ex k0 = low(key), k1 = high(key), k2 = (k0 ^ k1) ^ k0.num(0x1BD11BDA);
  const Ex keys[3] = {k0, k1, k2};
  Ex x0 = low(counter) + k0, x1 = high(counter) + k1;
  for (int group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x0 = x0 + x1;
      x1 = ((x1 << rotation) | (x1 >> (32 - rotation))) ^ x0;
    }
    x0 = x0 + keys[(group + 1) % 3];
    x1 = x1 + keys[(group + 2) % 3] + (group + 1);
  }
  return cast(x0, DType::U64) | (cast(x1, DType::U64) << 32);
}

UOp decomposeBool(Emitter& e, const Call& call) {
  Ex a{&e, call.src[0]}, b{&e, call.src.back()};
  switch (call.op) {
    case Op::Add:
    case Op::Max: return a | b;
    case Op::Mul:
    case Op::Min: return a & b;
    case Op::Sub:
    case Op::Ne: return a ^ b;
    case Op::Eq: return ~(a ^ b);
    case Op::Cdiv:
    case Op::Floordiv: return a | ~b;
    case Op::Cmod:
    case Op::Floormod:
    case Op::Shl:
    case Op::Shr: return a & ~b;
    case Op::Lt: return ~a & b;
    case Op::Le: return ~a | b;
    case Op::Mulacc: return (a & Ex{&e, call.src[1]}) | b;  // b is the last operand
    default: return a;
  }
}

}  // namespace svod::detail
