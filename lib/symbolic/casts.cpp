// Conversions between dtypes.
#include "symbolic/groups.h"

namespace svod {

namespace {

// Every value of `from` survives a trip through `to`.
bool holdsAll(DType to, DType from) {
  if (to == from) return true;
  if (from == DType::Bool) return isComputedIn(to);  // f8e8m0 has no 0
  const DTypeInfo &t = info(to), &f = info(from);
  if (to == DType::Bool) return false;
  if (isFloat(from)) {
    if (!isFloat(to)) return false;
    if (to == DType::F64) return true;
    if (to == DType::F32) return from != DType::F64;
    return false;
  }
  if (isFloat(to))
    return f.bits - (isSigned(from) ? 1 : 0) <= t.fractionBits + 1 && (to == DType::F32 || to == DType::F64);
  if (isSigned(from)) return isSigned(to) && t.bits >= f.bits;
  return isSigned(to) ? t.bits > f.bits : t.bits >= f.bits;
}

// Every value that x can take is a value of integer dtype `to`.
bool fits(const Match& m, UOp n, DType to) {
  if (!isInt(n.dtype()) || !isInt(to) || n.dtype() == DType::U64) return holdsAll(to, n.dtype());
  Interval b = boundsOf(m, n);
  return b.min >= minInt(to) && b.max <= maxInt(to);
}

// Registers may hold more digits of these; a conversion, and be it there and back, gives the value of the dtype.
bool mayBeHeldWide(UOp n) {
  if (n.dtype() != DType::F16 && n.dtype() != DType::BF16) return false;
  if (n.op() == Op::Load) return n.src(0).srcCount() == 0 || n.src(0).src(0).op() != Op::Param;
  return n.op() != Op::Cast && n.op() != Op::Bitcast && n.op() != Op::Buffer && !n.isConst();
}

UOp castChain(const Match& m) {
  UOp inner = m[x];
  if (inner.op() != Op::Cast) return {};
  UOp source = inner.src(0);
  DType mid = inner.dtype(), to = m.node.dtype();
  if (to == source.dtype() && mayBeHeldWide(source)) return {};
  // On the way through a float an integer saturates, directly it wraps.
  if (isInt(source.dtype()) && isFloat(mid) && isInt(to) && !fits(m, source, to)) return {};
  bool narrowing = isInt(source.dtype()) && isInt(mid) && isInt(to) && info(to).bits <= info(mid).bits;
  if (holdsAll(mid, source.dtype()) || narrowing || fits(m, source, mid)) return m.graph.cast(source, to);
  return {};
}

UOp castOfSameDType(const Match& m) { return m.node.src(0).dtype() == m.node.dtype() ? m.node.src(0) : UOp(); }

UOp bitcastChain(const Match& m) {
  return m.node.src(0).op() == Op::Bitcast ? m.graph.bitcast(m.node.src(0).src(0), m.node.dtype()) : UOp();
}

// bool -> number, compared with a constant
UOp compareCastOfBool(const Match& m) {
  UOp inner = m[x];
  if (inner.op() != Op::Cast || inner.src(0).dtype() != DType::Bool) return {};
  auto outcome = [&](int b) {
    Scalar in[] = {Scalar::of(inner.dtype(), b), m.scalar(c0)};
    return evalScalar(m.node.op(), DType::Bool, in).asInt() != 0;
  };
  bool f = outcome(0), t = outcome(1);
  if (f == t) return m.graph.boolean(f);
  return t ? inner.src(0) : m.graph.alu(Op::Not, {inner.src(0)});
}

// Comparisons of converted integers that lost nothing are comparisons of the integers.
UOp compareOfCasts(const Match& m) {
  auto inner = [&](UOp n) { return n.op() == Op::Cast && isInt(n.src(0).dtype()) && isInt(n.dtype()); };
  UOp a = m.node.src(0), b = m.node.src(1);
  if (!inner(a)) return {};
  UOp source = a.src(0);
  if (!fits(m, source, a.dtype())) return {};
  if (inner(b) && b.src(0).dtype() == source.dtype() && fits(m, b.src(0), b.dtype()))
    return m.graph.alu(m.node.op(), {source, b.src(0)});
  if (!b.isConst() || b.dtype() == DType::U64) return {};
  int64_t value = b.constInt();
  if (source.dtype() == DType::U64 || value < minInt(source.dtype()) || value > maxInt(source.dtype())) return {};
  return m.graph.alu(m.node.op(), {source, m.graph.constant(Scalar::ofInt(source.dtype(), value))});
}

// Integer arithmetic that does not wrap becomes index arithmetic when its result is converted to Index.
UOp indexOfArithmetic(const Match& m) {
  UOp n = m[x];
  if (m.node.dtype() != DType::Index || !isInt(n.dtype()) || n.dtype() == DType::U64 || n.dtype() == DType::Index)
    return {};
  bool exact = false;
  switch (n.op()) {
    case Op::Add: {
      Interval sum = addIntervals(boundsOf(m, n.src(0)), boundsOf(m, n.src(1)));
      exact = sum.min >= minInt(n.dtype()) && sum.max <= maxInt(n.dtype());
      break;
    }
    case Op::Sub: {
      Interval sum = addIntervals(boundsOf(m, n.src(0)), scaleInterval(boundsOf(m, n.src(1)), -1));
      exact = sum.min >= minInt(n.dtype()) && sum.max <= maxInt(n.dtype());
      break;
    }
    case Op::Mul: {
      if (!n.src(1).isConst()) return {};
      Interval product = scaleInterval(boundsOf(m, n.src(0)), n.src(1).constInt());
      exact = product.min >= minInt(n.dtype()) && product.max <= maxInt(n.dtype());
      break;
    }
    case Op::Floordiv:
    case Op::Floormod: exact = boundsOf(m, n.src(1)).min > 0; break;
    case Op::Max:
    case Op::Min: exact = true; break;
    case Op::Where:
      return m.graph.where(n.src(0), m.graph.cast(n.src(1), DType::Index), m.graph.cast(n.src(2), DType::Index));
    default: return {};
  }
  if (!exact || (n.dtype() == DType::I64 && n.op() != Op::Max && n.op() != Op::Min)) return {};
  return m.graph.alu(n.op(), {m.graph.cast(n.src(0), DType::Index), m.graph.cast(n.src(1), DType::Index)});
}

UOp castToBool(const Match& m) {
  if (m.node.dtype() != DType::Bool || m[x].dtype() == DType::Bool) return {};
  if (!isComputedIn(m[x].dtype())) return {};  // f8e8m0 has no 0
  return m.graph.alu(Op::Ne, {m[x], m.graph.constant(Scalar::of(m[x].dtype(), 0))});
}

constexpr Rule kCastRows[] = {
    native("cast-same", op(Op::Cast), kAllDomains, castOfSameDType),
    native("bitcast-same", op(Op::Bitcast), kAllDomains, castOfSameDType),
    native("cast-chain", cast(x), kAllDomains, castChain),
    native("bitcast-chain", op(Op::Bitcast), kAllDomains, bitcastChain),
    native("cast-to-bool", cast(x), kAllDomains, castToBool),
    native("lt-cast-of-bool", x < c0, kInts | kFloats, compareCastOfBool),
    native("le-cast-of-bool", x <= c0, kInts | kFloats, compareCastOfBool),
    native("eq-cast-of-bool", eq(x, c0), kInts | kFloats, compareCastOfBool),
    native("ne-cast-of-bool", ne(x, c0), kInts | kFloats, compareCastOfBool),
    native("compare-of-casts", trait(Elementwise | Comparison), kInts, compareOfCasts),
    native("index-of-arithmetic", cast(x), kFixed, indexOfArithmetic),
};

}  // namespace

constinit const RuleGroup kCastRules{"casts", kCastRows};

}  // namespace svod
