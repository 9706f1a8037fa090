#include "ir/bounds.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "support/integers.h"

namespace svod {

namespace {

Interval whole(DType d) {
  if (d == DType::Bool) return {0, 1};
  if (isInt(d) && d != DType::U64) return {minInt(d), maxInt(d)};
  return {};
}

// The interval if every value in it fits the dtype (so nothing wrapped), else everything.
Interval fit(DType d, __int128 lo, __int128 hi) {
  Interval all = whole(d);
  if (lo < all.min || hi > all.max || d == DType::U64) return all;
  return {static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

Interval corners(DType d, Interval a, Interval b, __int128 (*f)(__int128, __int128)) {
  __int128 v[4] = {f(a.min, b.min), f(a.min, b.max), f(a.max, b.min), f(a.max, b.max)};
  return fit(d, *std::min_element(v, v + 4), *std::max_element(v, v + 4));
}

Interval divideBounds(Op op, DType d, Interval a, Interval b) {
  if (b.min <= 0 && b.max >= 0) return whole(d);
  if (op == Op::Cdiv) return corners(d, a, b, [](__int128 x, __int128 y) { return x / y; });
  return corners(d, a, b, floorDivide<__int128>);
}

Interval moduloBounds(Op op, DType d, Interval a, Interval b) {
  if (b.min <= 0) return whole(d);
  bool nonnegative = a.min >= 0;
  if (nonnegative && a.max < b.min) return a;
  if (op == Op::Cmod && !nonnegative) return {-(b.max - 1), a.max <= 0 ? 0 : b.max - 1};
  if (b.isConst() && (nonnegative || op == Op::Floormod)) {
    __int128 lo = floorDivide<__int128>(a.min, b.min), hi = floorDivide<__int128>(a.max, b.min);
    if (lo == hi) return {static_cast<int64_t>(a.min - lo * b.min), static_cast<int64_t>(a.max - lo * b.min)};
  }
  return {0, nonnegative ? std::min(a.max, b.max - 1) : b.max - 1};
}

Interval compareBounds(Op op, Interval a, Interval b) {
  switch (op) {
    case Op::Lt: return {a.max < b.min, a.min < b.max};
    case Op::Le: return {a.max <= b.min, a.min <= b.max};
    case Op::Eq: return {a.isConst() && b.isConst() && a.min == b.min, a.min <= b.max && b.min <= a.max};
    default: return {a.max < b.min || b.max < a.min, !(a.isConst() && b.isConst() && a.min == b.min)};
  }
}

Interval shiftBounds(Op op, DType d, Interval a, Interval b) {
  if (!b.isConst() || b.min < 0 || b.min >= info(d).bits) return whole(d);
  if (op == Op::Shl) return fit(d, static_cast<__int128>(a.min) << b.min, static_cast<__int128>(a.max) << b.min);
  return {a.min >> b.min, a.max >> b.min};
}

Interval boolBounds(Op op, Interval a, Interval b) {
  if (op == Op::And || op == Op::Mul || op == Op::Min) return {a.min & b.min, a.max & b.max};
  if (op == Op::Or || op == Op::Add || op == Op::Max) return {a.min | b.min, a.max | b.max};
  if ((op == Op::Xor || op == Op::Sub) && a.isConst() && b.isConst()) return {a.min ^ b.min, a.min ^ b.min};
  return {0, 1};
}

Interval binaryBounds(Op op, DType d, Interval a, Interval b) {
  if (d == DType::Bool) return boolBounds(op, a, b);
  switch (op) {
    case Op::Add: return fit(d, static_cast<__int128>(a.min) + b.min, static_cast<__int128>(a.max) + b.max);
    case Op::Sub: return fit(d, static_cast<__int128>(a.min) - b.max, static_cast<__int128>(a.max) - b.min);
    case Op::Mul: return corners(d, a, b, [](__int128 x, __int128 y) { return x * y; });
    case Op::Max: return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case Op::Min: return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case Op::Cdiv:
    case Op::Floordiv: return divideBounds(op, d, a, b);
    case Op::Cmod:
    case Op::Floormod: return moduloBounds(op, d, a, b);
    case Op::Shl:
    case Op::Shr: return shiftBounds(op, d, a, b);
    case Op::And:
      if (b.min >= 0) return {0, a.min >= 0 ? std::min(a.max, b.max) : b.max};
      if (a.min >= 0) return {0, a.max};
      return whole(d);
    case Op::Xor:
      if (d != DType::Index || a.min < 0 || b.min < 0 || std::max(a.max, b.max) > INT64_MAX / 4) return whole(d);
      return {0, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(a.max, b.max)) + 1)) - 1};
    default: return whole(d);
  }
}

Interval castBounds(DType to, DType from, Interval x) {
  if (to == DType::Bool && !isFloat(from)) return compareBounds(Op::Ne, x, {0, 0});
  if (isFloat(from) || isFloat(to) || from == DType::U64) return whole(to);
  return fit(to, x.min, x.max);
}

}  // namespace

Interval computeBounds(Op op, DType d, std::span<const UOp> src, std::span<const Interval> in, const Arg& arg) {
  switch (op) {
    case Op::Const: {
      const Scalar& s = std::get<Scalar>(arg);
      return isFloat(d) || d == DType::U64 ? whole(d) : Interval{s.asInt(), s.asInt()};
    }
    case Op::Var: return {std::get<VarArg>(arg).min, std::get<VarArg>(arg).max};
    case Op::Range:
    case Op::Special: {
      // A loop that may not run, or cannot, is no constant: what its body does must stay inside of it.
      const bool mayNotRun = in[0].min < 1;
      return {0, std::max<int64_t>(in[0].max - 1, mayNotRun ? 1 : 0)};
    }
    case Op::After:
    case Op::Lane: return in[0];
    case Op::Ramp: {
      Interval base = in[0];
      return fit(d, base.min, static_cast<__int128>(base.max) + std::get<SlotArg>(arg).slot - 1);
    }
    case Op::Rows: {
      const int64_t columns = in[2].max, rows = std::get<SlotArg>(arg).slot / std::max<int64_t>(columns, 1);
      const __int128 last = static_cast<__int128>(in[1].max) * std::max<int64_t>(rows - 1, 0) + columns - 1;
      return fit(d, in[0].min, in[0].max + last);
    }
    case Op::Stack: {
      Interval hull = in[0];
      for (Interval i : in) hull = {std::min(hull.min, i.min), std::max(hull.max, i.max)};
      return hull;
    }
    case Op::Cast: return castBounds(d, src[0].dtype(), in[0]);
    case Op::Where: {
      Interval c = in[0], a = in[1], b = in[2];
      if (c.isConst()) return c.min ? a : b;
      return {std::min(a.min, b.min), std::max(a.max, b.max)};
    }
    case Op::Neg: return isFloat(d) ? whole(d) : binaryBounds(Op::Sub, d, {0, 0}, in[0]);
    case Op::Not:
      if (d == DType::Bool) return {!in[0].max, !in[0].min};
      return isSigned(d) ? Interval{~in[0].max, ~in[0].min} : whole(d);
    default: break;
  }
  if (!isElementwise(op) || src.size() != 2) return whole(d);
  DType operand = src[0].dtype();
  if (isFloat(operand) || operand == DType::U64) return whole(d);
  if (has(op, Comparison)) return compareBounds(op, in[0], in[1]);
  return binaryBounds(op, d, in[0], in[1]);
}

Interval computeBounds(Op op, DType dtype, std::span<const UOp> src, const Arg& arg) {
  constexpr size_t kFew = 8;
  Interval few[kFew];
  std::vector<Interval> many(src.size() > kFew ? src.size() : 0);
  std::span<Interval> in = src.size() > kFew ? std::span<Interval>(many) : std::span<Interval>(few, src.size());
  for (size_t i = 0; i < src.size(); ++i) in[i] = src[i].bounds();
  return computeBounds(op, dtype, src, in, arg);
}

}  // namespace svod
