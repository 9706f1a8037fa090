#include "lower/small_floats.h"

#include <algorithm>

namespace svod::detail {

namespace {

/// Operands of the format give a result of the format.
bool isExact(Op op, DType format) {
  switch (op) {
    case Op::Abs:
    case Op::Max:
    case Op::Min: return true;
    case Op::Neg:  // these can give -0
    case Op::Trunc:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round: return floatFormat(format).hasNegativeZero();
    case Op::Fmod: return floatFormat(format).hasNegativeZero() && floatFormat(format).hasNan();
    default: return false;
  }
}

}  // namespace

UOp SmallFloats::value(UOp x, DType format) {
  return x.dtype() == DType::F32 ? x : isOf(format, decodeFloat(ex(x), format).node);
}

UOp SmallFloats::exactValue(UOp x, DType format) {
  x = value(x, format);
  return holdsExactly(format, x) ? x : rounded(x, format);
}

UOp SmallFloats::bits(UOp x, DType format) {
  if (x.dtype() != DType::F32) return x;
  if (x.isConst()) {
    Scalar rounded = Scalar::ofFloat(format, x.constant().asFloat());
    return emitter_.graph.constant(Scalar::fromBits(memoryDType(format), rounded.storageBits()));
  }
  return encodeFloat(ex(unrounded(x)), format);
}

UOp SmallFloats::unrounded(UOp x) const {
  if (const auto it = unrounded_.find(x.id()); it != unrounded_.end()) return it->second;
  if (x.op() != Op::Stack) return x;
  std::vector<UOp> lanes;
  for (UOp s : x.src()) lanes.push_back(unrounded(s));
  const bool areAlike = std::ranges::all_of(lanes, [&](UOp s) { return s.dtype() == lanes[0].dtype(); });
  return areAlike ? emitter_.graph.make(Op::Stack, lanes[0].dtype(), lanes) : x;
}

UOp SmallFloats::isOf(DType format, UOp x) {
  exact_.emplace(x.id(), format);
  return x;
}

UOp SmallFloats::rounded(UOp exact, DType format) {
  if (exact.dtype() == DType::F64) return encodeFloat(ex(exact), format);
  UOp result = isOf(format, roundFloat(ex(exact), format));
  unrounded_.emplace(result.id(), exact);
  return result;
}

bool SmallFloats::roundsEveryOp(DType format) const {
  return isMinifloat(format) || emitter_.options.numerics == Numerics::Strict;
}

UOp SmallFloats::compute(Op op, DType format, std::vector<UOp> src) {
  const bool rounds = roundsEveryOp(format);
  if (op == Op::Mulacc && rounds) {  // f32 would round the sum twice
    for (UOp& s : src) s = emitter_.graph.cast(s, DType::F64);
    return rounded(emitter_.graph.alu(op, src), format);
  }
  UOp result = emitter_.graph.alu(op, src);
  if (isExact(op, format) && std::ranges::all_of(src, [&](UOp s) { return holdsExactly(format, s); }))
    return isOf(format, result);
  return rounds ? rounded(result, format) : result;
}

}  // namespace svod::detail
