// Ex: a node with operators, so that decompositions read as formulas. Number operands take the dtype of the other side.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "lower/decompose.h"

namespace svod::detail {

struct Ex {
  Emitter* e;
  UOp node;

  DType dtype() const { return node.dtype(); }
  Ex num(double value) const { return {e, e->graph.constant(Scalar::of(dtype(), value))}; }
  Ex bits(uint64_t value) const { return {e, e->graph.constant(Scalar::fromBits(dtype(), value))}; }
  Ex nan() const { return num(std::numeric_limits<double>::quiet_NaN()); }
  Ex inf() const { return num(std::numeric_limits<double>::infinity()); }
  operator UOp() const { return node; }  // NOLINT: the point of the type
};

inline Ex un(Op op, Ex x) { return {x.e, x.e->make(op, x.dtype(), {x.node})}; }
inline Ex bin(Op op, Ex a, Ex b) {
  return {a.e, a.e->make(op, has(op, Comparison) ? DType::Bool : a.dtype(), {a.node, b.node})};
}

#define SVOD_EX_OPERATOR(sign, op)                                             \
  inline Ex operator sign(Ex a, Ex b) { return bin(Op::op, a, b); }            \
  inline Ex operator sign(Ex a, double b) { return bin(Op::op, a, a.num(b)); } \
  inline Ex operator sign(double a, Ex b) { return bin(Op::op, b.num(a), b); }
SVOD_EX_OPERATOR(+, Add)
SVOD_EX_OPERATOR(-, Sub)
SVOD_EX_OPERATOR(*, Mul)
SVOD_EX_OPERATOR(/, Fdiv)
SVOD_EX_OPERATOR(&, And)
SVOD_EX_OPERATOR(|, Or)
SVOD_EX_OPERATOR(^, Xor)
SVOD_EX_OPERATOR(<<, Shl)
SVOD_EX_OPERATOR(>>, Shr)
SVOD_EX_OPERATOR(<, Lt)
SVOD_EX_OPERATOR(<=, Le)
SVOD_EX_OPERATOR(==, Eq)
SVOD_EX_OPERATOR(!=, Ne)
#undef SVOD_EX_OPERATOR

inline Ex operator-(Ex x) { return un(Op::Neg, x); }
inline Ex operator~(Ex x) { return un(Op::Not, x); }
inline Ex abs(Ex x) { return un(Op::Abs, x); }
inline Ex cast(Ex x, DType to) { return {x.e, x.e->cast(x.node, to)}; }
inline Ex bitcast(Ex x, DType to) { return {x.e, x.dtype() == to ? x.node : x.e->make(Op::Bitcast, to, {x.node})}; }
inline Ex where(Ex c, Ex a, Ex b) { return {c.e, c.e->make(Op::Where, a.dtype(), {c.node, a.node, b.node})}; }
inline Ex where(Ex c, Ex a, double b) { return where(c, a, a.num(b)); }
inline Ex where(Ex c, double a, Ex b) { return where(c, b.num(a), b); }

/// An instruction of gpu_ops.def that computes lane by lane.
template <class... More>
Ex gpu(std::string_view instruction, DType result, Ex x, More... more) {
  const UOp operands[] = {x.node, more.node...};
  return {x.e, x.e->graph.make(Op::Gpu, result, operands, NameArg{instruction})};
}

inline Ex clamp(Ex x, double low, double high) {  // NaN stays
  x = where(x < low, low, x);
  return where(high < x, high, x);
}

/// a * b + c, rounded once where the target can.
inline Ex fma(Ex a, Ex b, Ex c) {
  return a.e->options.fma ? Ex{a.e, a.e->make(Op::Mulacc, a.dtype(), {a.node, b.node, c.node})} : a * b + c;
}
inline Ex fma(Ex a, double b, Ex c) { return fma(a, a.num(b), c); }
inline Ex fma(Ex a, Ex b, double c) { return fma(a, b, a.num(c)); }
inline Ex fma(Ex a, double b, double c) { return fma(a, a.num(b), a.num(c)); }

/// c[0] + c[1] x + c[2] x^2 ..
inline Ex poly(Ex x, std::span<const double> c) {
  Ex sum = x.num(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = fma(sum, x, c[i]);
  return sum;
}

/// What the bit tricks of one float format need.
struct FloatLayout {
  DType dtype, sint, uint;
  int fraction, bias;
  double roundMagic;  // adding it rounds to an integer that then stands in the low bits
};
inline const FloatLayout& layoutOf(DType dtype) {
  static constexpr FloatLayout kF32{DType::F32, DType::I32, DType::U32, 23, 127, 0x1.8p23};
  static constexpr FloatLayout kF64{DType::F64, DType::I64, DType::U64, 52, 1023, 0x1.8p52};
  return dtype == DType::F32 ? kF32 : kF64;
}

/// A float rounded to an integer, |x| < 2^(fraction - 2); garbage but no trap beyond that and for NaN. Targets without
/// a vector conversion from float to integer need none for this.
struct Rounded {
  Ex integer, value;  // signed integer of the float's width, and the same number as a float
  Ex low;             // an integer with the low bits of `integer`, as many as an exponent has and one more
};
inline Rounded roundToInt(Ex shifted) {  // shifted = x + roundMagic
  const FloatLayout& l = layoutOf(shifted.dtype());
  Ex low = bitcast(shifted, l.sint), i = low - bitcast(shifted.num(l.roundMagic), l.sint);
  if (shifted.e->options.keepsSums) return {i, shifted - l.roundMagic, low};
  return {i, cast(cast(i, DType::I32), l.dtype), low};  // few targets convert vectors of i64
}
/// `magnitude` >= 0 with the sign of x.
inline Ex copySign(Ex magnitude, Ex x) {
  DType u = layoutOf(x.dtype()).uint;
  Ex sign = bitcast(x, u) & bitcast(x.num(-0.0), u);
  return bitcast(bitcast(magnitude, u) | sign, x.dtype());
}
/// 2^i for i in the range of normal numbers; the low bits of i are enough.
inline Ex powerOfTwo(Ex i, DType dtype) {
  const FloatLayout& l = layoutOf(dtype);
  return bitcast((i + l.bias) << l.fraction, dtype);
}

}  // namespace svod::detail
