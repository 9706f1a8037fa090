#include "interp/bound_math.h"

#include "ir/shape.h"

namespace svod {

UOp BoundMath::full(UOp e, UOp like) {
  UOp value = e ? e : number(0);
  if (!value.isScalar() || like.isScalar()) return value;
  const std::vector<UOp> ones(like.rank(), g.index(1));
  return g.expand(g.reshape(value, ones), like.shape());
}

double BoundMath::growth(DType d, double steps) {
  const double grow = steps * unit(d);
  return grow < 0.4 ? 2.1 * grow / (1 - 2 * grow) : HUGE_VAL;
}

UOp BoundMath::rounded(UOp x, UOp reach, UOp propagated, double steps) {
  const DType d = x.dtype();
  reach = plus(reach, propagated);
  UOp e = plus(plus(propagated, times(reach, number(growth(d, steps)))), number(2.1 * steps * tiny(d)));
  return orInfinity(isBelow(plus(reach, e), maxFinite(d) * 0.99), e);
}

}  // namespace svod
