#include "lower/bound_exponents.h"

#include <algorithm>

#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr size_t kMostLoops = 3;  // of a maximum; more are not tried

/// Indices are sums in an order that depends on the loops they are made of.
UOp inOneOrder(Graph& g, UOp x) {
  return transform(g, x, [&](UOp n, std::span<const UOp> same) {
    std::vector<UOp> src(same.begin(), same.end());
    if (n.op() == Op::Index)
      for (UOp& at : std::span(src).subspan(1)) at = simplify(g, at);
    return std::ranges::equal(src, n.src()) ? n : g.withSrc(n, src);
  });
}

/// Whether `x` is a term of the maximum: the one at some loops that are open in x alone.
class TermFinder {
 public:
  TermFinder(Graph& g, UOp x, UOp maximum) : g_(g), x_(inOneOrder(g, x)), terms_(maximum.src(0)) {
    for (UOp r : maximum.src().subspan(1)) loops_.push_back(r);
    for (UOp r : x.ranges())
      if (!maximum.dependsOn(r)) own_.push_back(r);
  }

  bool find() { return loops_.size() <= kMostLoops && findFrom(0); }

 private:
  bool findFrom(size_t i) {
    if (i == loops_.size()) return inOneOrder(g_, substitute(g_, terms_, loops_, places_)) == x_;
    return std::ranges::any_of(own_, [&](UOp r) {
      if (r.src(0) != loops_[i].src(0) || std::ranges::find(places_, r) != places_.end()) return false;
      places_.push_back(r);
      const bool isFound = findFrom(i + 1);
      places_.pop_back();
      return isFound;
    });
  }

  Graph& g_;
  UOp x_, terms_;
  std::vector<UOp> loops_, own_, places_;
};

bool isGreatest(UOp n) { return n.op() == Op::Reduce && n.argAs<ReduceArg>().op == Op::Max && n.srcCount() > 1; }

/// Powers of exponents from here on are normal numbers: ln 2^-126 and ln 2^-1022, rounded up.
double leastExponent(DType d) { return d == DType::F32 ? -87.33654 : -708.39641853226; }

bool isNumber(UOp n, double number) {
  return n.isConst() && n.constant().asFloat() == Scalar::of(n.dtype(), number).asFloat();
}

/// A comparison that leaves NaN in place: processors have one instruction for it.
UOp notAboveZero(Graph& g, UOp x) {
  const UOp zero = g.constant(Scalar::of(x.dtype(), 0.0));
  return g.where(g.alu(Op::Lt, {zero, x}), zero, x);
}

}  // namespace

UOp boundedExponent(Graph& g, UOp difference, Numerics numerics) {
  const UOp exponent = notAboveZero(g, difference);
  const DType d = difference.dtype();
  if (numerics == Numerics::Strict || (d != DType::F32 && d != DType::F64)) return exponent;
  const UOp isSubnormal = g.alu(Op::Lt, {exponent, g.constant(Scalar::of(d, leastExponent(d)))});
  return g.where(isSubnormal, g.constant(Scalar::of(d, kNoPower)), exponent);
}

bool isNotAboveZero(UOp x) {
  if (x.op() == Op::Neg) return x.src(0).op() == Op::Abs;
  return x.op() == Op::Where && isNumber(x.src(1), 0) && x.src(0).op() == Op::Lt && x.src(0).src(0) == x.src(1) &&
         x.src(0).src(1) == x.src(2);
}

UOp exponentAbove(UOp exponent) {
  if (exponent.op() != Op::Where || !isNumber(exponent.src(1), kNoPower)) return {};
  const UOp isBelow = exponent.src(0), within = exponent.src(2);
  const bool isCut = isBelow.op() == Op::Lt && isBelow.src(0) == within && isNotAboveZero(within) &&
                     isNumber(isBelow.src(1), leastExponent(within.dtype()));
  return isCut ? within : UOp();
}

UOp boundExponents(Graph& graph, UOp sink, Numerics numerics) {
  return transform(graph, sink, [&](UOp n, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, n.src()) ? n : graph.withSrc(n, src);
    if (same.op() != Op::Exp) return same;
    const UOp x = same.src(0);
    if (x.op() != Op::Sub || !isFloat(x.dtype()) || !isGreatest(x.src(1))) return same;
    if (!TermFinder(graph, x.src(0), x.src(1)).find()) return same;
    return graph.alu(Op::Exp, {boundedExponent(graph, x, numerics)});
  });
}

}  // namespace svod
