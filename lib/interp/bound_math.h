// Arithmetic on bounds of errors, which are f64 values of a graph. A null bound is zero, infinity and NaN are "anything
// goes". Not for users of the room: error_bounds.h is.
#pragma once
#include <cmath>

#include "ir/graph.h"
#include "ir/numerics.h"

namespace svod {

inline constexpr DType kWideBound = DType::F64;

class BoundMath {
 public:
  BoundMath(Graph& graph, Numerics numerics) : g(graph), isFast(numerics == Numerics::Fast) {}

  UOp number(double v) { return g.constant(Scalar::ofFloat(kWideBound, v)); }
  UOp plus(UOp a, UOp b) { return !a ? b : !b ? a : g.alu(Op::Add, {a, b}); }
  UOp times(UOp a, UOp b) { return !a || !b ? UOp() : g.alu(Op::Mul, {a, b}); }
  UOp larger(UOp a, UOp b) { return !a ? b : !b ? a : g.alu(Op::Max, {a, b}); }
  UOp wide(UOp x) { return g.cast(x, kWideBound); }
  UOp size(UOp x) { return g.alu(Op::Abs, {wide(x)}); }  // |x|
  UOp apart(UOp a, UOp b) { return g.alu(Op::Abs, {g.alu(Op::Sub, {wide(a), wide(b)})}); }
  UOp isBelow(UOp a, double limit) { return g.alu(Op::Lt, {a, number(limit)}); }
  UOp isZero(UOp e) { return g.alu(Op::Eq, {e, number(0)}); }
  UOp isNumber(UOp x) { return g.alu(Op::Le, {size(x), number(HUGE_VAL)}); }  // no NaN
  UOp orInfinity(UOp ok, UOp e) { return g.where(ok, e ? e : number(0), number(HUGE_VAL)); }
  /// Zero where e is, else infinity.
  UOp allOrNothing(UOp e) { return e ? orInfinity(isZero(e), {}) : UOp(); }
  /// In `fast`, anything where x is NaN.
  UOp openWhereNaN(UOp x, UOp e) { return isFast ? orInfinity(isNumber(x), e) : e; }
  /// `e`, or zero, as a tensor of the dims of `like`.
  UOp full(UOp e, UOp like);

  /// Both evaluations round a result of x's size, `steps` times each, and may go over the top of the range.
  UOp rounded(UOp x, UOp propagated, double steps = 1) { return rounded(x, size(x), propagated, steps); }
  /// The same where results between are up to `reach`.
  UOp rounded(UOp x, UOp reach, UOp propagated, double steps);

  static double unit(DType d) { return std::ldexp(1.0, -info(d).fractionBits - 1); }
  static double tiny(DType d) { return Scalar::fromBits(d, 1).asFloat(); }
  static double smallestNormal(DType d) { return std::ldexp(tiny(d), info(d).fractionBits); }
  /// What `steps` roundings in each of two evaluations make of 1; infinity where that says nothing.
  static double growth(DType d, double steps);

  Graph& g;
  const bool isFast;
};

/// The bound of an elementwise op, by those of its sources.
UOp elementwiseBound(BoundMath& m, UOp n, std::span<const UOp> errors);
/// Of Op::Reduce, by that of its source, and of Op::Scatter, by those of its base, indices and updates.
UOp reduceBound(BoundMath& m, UOp n, UOp error);
UOp scatterBound(BoundMath& m, UOp n, std::span<const UOp> errors);

}  // namespace svod
