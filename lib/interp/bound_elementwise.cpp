#include "interp/bound_math.h"

namespace svod {

namespace {

/// Roundings of a quotient or root in `fast`: a product with an estimated reciprocal and one Newton step.
constexpr double kStepsOfReciprocal = 8;
constexpr double kStepsOfTranscendental = 8;

class ElementBound {
 public:
  ElementBound(BoundMath& m, UOp n, std::span<const UOp> errors) : m_(m), n_(n), e_(errors) {}

  UOp bound() {
    if (n_.op() == Op::Where) return choice();
    if (n_.op() == Op::Cast) return isFloat(n_.src(0).dtype()) ? castOfFloat() : castOfInteger();
    if (n_.op() == Op::Bitcast) return bits();
    if (has(n_.op(), Comparison)) return isFloat(n_.src(0).dtype()) ? comparison() : largest();
    return isFloat(n_.dtype()) ? arithmetic() : largest();
  }

 private:
  UOp a() { return n_.src(0); }
  UOp b() { return n_.src(1); }
  UOp ea() { return e_[0]; }
  UOp eb() { return e_[1]; }

  UOp largest() {
    UOp e;
    for (UOp source : e_) e = m_.larger(e, source);
    return e;
  }

  UOp arithmetic() {
    switch (n_.op()) {
      case Op::Neg:
      case Op::Abs: return ea();
      case Op::Trunc:
      case Op::Floor:
      case Op::Ceil:
      case Op::Round: return ea() ? m_.orInfinity(m_.isBelow(steps(n_.op()), HUGE_VAL), steps(n_.op())) : UOp();
      case Op::Fmod: return divided(m_.allOrNothing(largest()));
      case Op::Max:
      case Op::Min: return m_.openWhereNaN(n_, largest());
      case Op::Add:
      case Op::Sub: return sum();
      case Op::Mul: return m_.rounded(n_, product());
      case Op::Fdiv: return divided(m_.rounded(n_, quotient(n_, b(), ea(), eb()), stepsOfQuotient()));
      case Op::Recip: return divided(m_.rounded(n_, quotient(n_, a(), {}, ea()), stepsOfQuotient()));
      case Op::Sqrt: return reciprocable(m_.rounded(n_, root(), stepsOfQuotient()));
      case Op::Exp: return m_.plus(m_.rounded(n_, transcendental(), kStepsOfTranscendental), belowNormal());
      default: return m_.rounded(n_, transcendental(), kStepsOfTranscendental);
    }
  }

  /// A subnormal power of a difference from a maximum may be 0.
  UOp belowNormal() {
    return a().op() == Op::Sub ? m_.number(BoundMath::smallestNormal(computedIn(n_.dtype()))) : UOp();
  }

  double stepsOfQuotient() const { return m_.isFast ? kStepsOfReciprocal : 1; }

  /// In `fast` constants of other sums may have come together, so what counts is the size of the operands.
  UOp sum() {
    UOp propagated = m_.plus(ea(), eb());
    return m_.isFast ? m_.rounded(n_, m_.plus(m_.size(a()), m_.size(b())), propagated, 2) : m_.rounded(n_, propagated);
  }

  UOp product() {
    return m_.plus(m_.plus(m_.times(m_.size(a()), eb()), m_.times(m_.size(b()), ea())), m_.times(ea(), eb()));
  }

  static DType computedIn(DType d) { return info(d).bits < 32 ? DType::F32 : d; }

  /// In `fast` a divisor must have a reciprocal that is a normal number.
  UOp divided(UOp e) {
    if (!m_.isFast) return e;
    UOp divisor = n_.src(n_.srcCount() - 1), size = m_.size(divisor), error = e_.back();
    const double largest = maxFinite(computedIn(divisor.dtype())) / 8;
    UOp least = error ? m_.g.alu(Op::Sub, {size, error}) : size;
    UOp isNormal = m_.g.alu(Op::Lt, {m_.number(1 / largest), least});
    return m_.orInfinity(isNormal, m_.orInfinity(m_.isBelow(m_.plus(size, error), largest), e));
  }

  /// In `fast` a quotient by a root may take the reciprocal root of a normal number.
  UOp reciprocable(UOp e) {
    if (!m_.isFast) return e;
    UOp isNormal = m_.g.alu(Op::Lt, {m_.number(8 / maxFinite(computedIn(a().dtype()))), m_.size(a())});
    return m_.orInfinity(m_.g.alu(Op::Or, {isNormal, m_.isZero(m_.size(a()))}), e);
  }

  // x = ? / b: (ea + |x| eb) / (|b| - eb)
  UOp quotient(UOp x, UOp b, UOp ea, UOp eb) {
    if (!ea && !eb) return {};
    UOp below = eb ? m_.g.alu(Op::Sub, {m_.size(b), eb}) : m_.size(b);
    UOp e = m_.g.alu(Op::Fdiv, {m_.plus(ea, m_.times(m_.size(x), eb)), below});
    return m_.orInfinity(m_.g.alu(Op::Lt, {m_.number(0), below}), e);
  }

  UOp root() {
    if (!ea()) return {};
    UOp inside = m_.g.alu(Op::Lt, {ea(), m_.size(a())});
    UOp e = m_.orInfinity(inside, m_.g.alu(Op::Fdiv, {ea(), m_.size(n_)}));
    return m_.g.where(m_.isZero(ea()), m_.number(0), e);
  }

  UOp transcendental() {
    const bool isPeriodic = n_.op() == Op::Sin || n_.op() == Op::Cos || n_.op() == Op::Tan;
    if (m_.isFast && isPeriodic) return periodic();
    if (!ea() && !(e_.size() > 1 && eb())) return {};
    switch (n_.op()) {
      case Op::Exp:
      case Op::Exp2:
        return m_.orInfinity(m_.isBelow(ea(), 0.25), m_.times(m_.times(m_.size(n_), ea()), m_.number(1.5)));
      case Op::Log:
      case Op::Log2: return quotient(m_.number(0), a(), m_.times(ea(), m_.number(1.5)), ea());
      case Op::Sin:
      case Op::Cos:
      case Op::Tanh: return ea();
      case Op::Erf: return m_.times(ea(), m_.number(1.2));
      default: return m_.allOrNothing(largest());
    }
  }

  /// x - n pi/2 by three fused multiply-adds is off by 2^-22 of a unit of the last place of x, and n must be a whole
  /// number that the dtype holds.
  UOp periodic() {
    const DType computed = computedIn(a().dtype());
    const double places = std::ldexp(1.0, info(computed).fractionBits - 1);
    UOp reduced = m_.times(m_.size(a()), m_.number(BoundMath::unit(computed) / places));
    UOp e = m_.orInfinity(m_.isBelow(m_.size(a()), places), m_.plus(ea(), reduced));
    if (n_.op() != Op::Tan) return e;
    UOp slope = m_.plus(m_.times(m_.size(n_), m_.size(n_)), m_.number(1));
    UOp moved = m_.times(m_.times(slope, e), m_.number(2));
    return m_.orInfinity(m_.isBelow(m_.times(m_.plus(m_.size(n_), m_.number(1)), e), 0.1), moved);
  }

  /// How far op(a), which never falls, may be from itself.
  UOp steps(Op op) {
    UOp x = m_.wide(a()), at = m_.g.alu(op, {x}), above = m_.g.alu(op, {m_.plus(x, ea())});
    return m_.larger(m_.apart(above, at), m_.apart(at, m_.g.alu(op, {m_.g.alu(Op::Sub, {x, ea()})})));
  }

  UOp castOfFloat() {
    const DType from = a().dtype(), to = n_.dtype();
    if (isFloat(to)) {
      const bool widens = info(from).fractionBits <= info(to).fractionBits && info(from).bits <= info(to).bits;
      return widens ? ea() : m_.rounded(n_, ea());
    }
    UOp e = !ea() ? UOp() : to == DType::Bool ? differsFromZero() : m_.allOrNothing(steps(Op::Trunc));
    return m_.openWhereNaN(a(), e);
  }

  UOp differsFromZero() {
    UOp isCertain = m_.g.alu(Op::Or, {m_.isZero(ea()), m_.g.alu(Op::Lt, {ea(), m_.size(a())})});
    return m_.orInfinity(isCertain, {});
  }

  UOp castOfInteger() { return isFloat(n_.dtype()) ? m_.rounded(n_, ea()) : ea(); }

  /// In `fast` also the sign of a zero.
  UOp bits() {
    UOp e = m_.allOrNothing(ea());
    if (!m_.isFast || !isFloat(a().dtype())) return e;
    return m_.orInfinity(m_.g.alu(Op::Lt, {m_.number(0), m_.size(a())}), e);
  }

  UOp comparison() {
    UOp e = m_.plus(ea(), eb()), all;
    if (e && a() == b()) {
      all = m_.orInfinity(m_.isBelow(ea(), HUGE_VAL), {});
    } else if (e) {
      UOp isCertain = m_.g.alu(Op::Or, {m_.isZero(e), m_.g.alu(Op::Lt, {e, m_.apart(a(), b())})});
      all = m_.orInfinity(isCertain, {});
    }
    return m_.openWhereNaN(a(), m_.openWhereNaN(b(), all));
  }

  UOp choice() {
    UOp condition = e_[0], e1 = e_[1], e2 = e_[2], x = n_.src(1), y = n_.src(2), e;
    if (e1 || e2) e = m_.g.where(n_.src(0), e1 ? e1 : m_.number(0), e2 ? e2 : m_.number(0));
    if (!condition) return e;
    UOp either = m_.plus(e1, e2);
    either = isFloat(n_.dtype()) ? m_.plus(m_.apart(x, y), either) : m_.orInfinity(m_.g.alu(Op::Eq, {x, y}), either);
    return m_.g.where(m_.isZero(condition), e ? e : m_.number(0), either);
  }

  BoundMath& m_;
  UOp n_;
  std::span<const UOp> e_;
};

}  // namespace

UOp elementwiseBound(BoundMath& m, UOp n, std::span<const UOp> errors) { return ElementBound(m, n, errors).bound(); }

}  // namespace svod
