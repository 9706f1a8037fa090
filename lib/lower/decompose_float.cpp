// Float ops whose hardware versions differ from ops.def: conversions, max and min, rounding.
#include <algorithm>

#include "lower/decompose_expr.h"

namespace svod::detail {

namespace {

bool neverNaN(UOp x) {
  if (x.isConst()) return !std::isnan(x.constant().asFloat());
  return x.op() == Op::Cast && !isFloat(x.src(0).dtype());
}

bool readsAccumulator(UOp x) {
  if (x.op() != Op::Load) return false;
  UOp storage = x.src(0);
  while (!storage.isConst() && storage.op() != Op::Buffer && storage.op() != Op::Param && storage.srcCount() > 0)
    storage = storage.src(0);
  return storage.op() == Op::Buffer;
}

// Whether x is `lowest < v ? v : lowest`, which no NaN gets through.
bool isKeptFrom(UOp x, double lowest) {
  if (x.op() != Op::Where || x.src(0).op() != Op::Lt) return false;
  const UOp bound = x.src(0).src(0);
  return bound == x.src(2) && x.src(0).src(1) == x.src(1) && bound.isConst() && bound.constant().asFloat() == lowest;
}

// Clamps to the representable numbers in the float domain; where the largest integer is no float, one more select.
UOp floatToInt(Emitter& e, Ex x, DType to) {
  auto raw = [&](Ex v) { return Ex{&e, e.graph.make(Op::Cast, to, {v.node})}; };
  int valueBits = info(to).bits - (isSigned(to) ? 1 : 0);
  double lowest = isSigned(to) ? -std::ldexp(1.0, valueBits) : 0;
  Ex low = x;
  if (!isKeptFrom(x, lowest)) {
    if (isSigned(to)) low = where(x == x, x, 0.0);  // unsigned, NaN fails the comparison with 0
    low = where(lowest < low, low, lowest);
  }
  if (valueBits <= info(x.dtype()).fractionBits + 1) {
    double highest = std::ldexp(1.0, valueBits) - 1;
    return raw(where(low < highest, low, highest));
  }
  Ex fits = low < std::ldexp(1.0, valueBits);
  Ex largest{&e, e.graph.constant(identity(Op::Min, to))};
  return where(fits, raw(where(fits, low, 0.0)), largest);
}

UOp extremumOfGpu(Op op, Ex x, Ex y) {
  const bool isMax = op == Op::Max;
  Ex result = gpu(isMax ? "max_nan" : "min_nan", DType::F32, x, y);
  const Emitter::FloatRange a = x.e->rangeOf(x), b = x.e->rangeOf(y);
  if (isMax) x.e->noteRange(result, {std::max(a.least, b.least), std::max(a.most, b.most)});
  if (!isMax) x.e->noteRange(result, {std::min(a.least, b.least), std::min(a.most, b.most)});
  return result;
}

}  // namespace

UOp decomposeCast(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  if (x.dtype() == call.dtype) return x;
  if (call.dtype == DType::Bool) return x != 0;
  if (isFloat(x.dtype()) && isInt(call.dtype)) return floatToInt(e, x, call.dtype);
  return {};
}

// `y < x ? x : y` is one maxps: it gives y when a comparison with NaN fails, so only a NaN in x needs a select. That
// select stays off the critical path of an accumulation when x is not the accumulator.
UOp decomposeFloatMaxMin(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]}, y{&e, call.src[1]};
  if (x.dtype() == DType::F32 && e.has("max_nan")) return extremumOfGpu(call.op, x, y);
  if (neverNaN(y) || (!neverNaN(x) && readsAccumulator(x))) std::swap(x, y);
  Ex larger = where(call.op == Op::Max ? y < x : x < y, x, y);
  if (neverNaN(x) || e.options.numerics == Numerics::Fast) return larger;
  return where(x != x, x.nan(), larger);  // another value than x, or compilers join both selects
}

UOp decomposeRecip(Emitter& e, const Call& call) {
  Ex x{&e, call.src[0]};
  return 1.0 / x;
}

UOp decomposeRounding(Emitter& e, const Call& call) {
  if (e.options.nativeRound) return {};
  Ex x{&e, call.src[0]};
  const FloatLayout& l = layoutOf(x.dtype());
  double whole = std::ldexp(1.0, l.fraction);  // from here on every number is an integer
  Ex magnitude = abs(x), small = magnitude < whole;
  Ex safe = where(small, magnitude, 0.0);
  auto toFloat = [&](Ex i) { return Ex{&e, e.graph.make(Op::Cast, l.dtype, {i.node})}; };
  if (call.op == Op::Round) {
    Ex nearest = bitcast(safe + whole, l.sint) - bitcast(safe.num(whole), l.sint);
    return where(small, copySign(toFloat(nearest), x), x);
  }
  Ex truncated = copySign(toFloat({&e, e.graph.make(Op::Cast, l.sint, {safe.node})}), x);
  if (call.op == Op::Floor) truncated = where(x < truncated, truncated - 1.0, truncated);
  if (call.op == Op::Ceil) truncated = copySign(abs(where(truncated < x, truncated + 1.0, truncated)), x);
  return where(small, truncated, x);
}

}  // namespace svod::detail
