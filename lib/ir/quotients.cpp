// Floor quotients of dims in a normal form. All rules are equations over the integers, so they are used where bounds
// show that nothing wraps: with c > 0 and integer A, B
//   (c*A + B) // c = A + B // c           (g*A + k) // (g*c) = (A + k//g) // c
//   (A // b + B) // c = (A + b*B) // (b*c)       B // c = -((-B + c - 1) // c)
//   min(A, B) // c = min(A // c, B // c)
// The numerator that is left has factors between -c and c, a first term with a positive factor and a constant in [0,
// c).
#include <numeric>

#include "ir/polynomial.h"
#include "ir/shape.h"
#include "support/integers.h"

namespace svod {

namespace {

constexpr int kMaxSteps = 64;  // of one division

/// The quotient so far is `whole` + `sign` * ((`rest`) // `by`).
struct Division {
  Graph& g;
  Polynomial whole, rest, by;
  int64_t sign = 1;

  int64_t number() const { return constantOf(by); }  // the divisor, where it is a number
  bool isByNumber() const { return isNumber(by); }
  void move(const Polynomial& quotient) { whole = sum(std::move(whole), quotient, sign); }
};

// Takes multiples of the divisor, a number, out of the numerator.
void takeMultiplesOfNumber(Division& d) {
  const int64_t c = d.number();
  Polynomial quotient, rest;
  for (const DimTerm& t : d.rest) {
    const int64_t q = t.atoms.empty() ? floorDivide(t.factor, c) : t.factor / c;
    if (q != 0) quotient.push_back({t.atoms, q});
    if (t.factor != q * c) rest.push_back({t.atoms, t.factor - q * c});
  }
  d.move(quotient);
  d.rest = std::move(rest);
}

// The same for a product of atoms with a factor.
void takeMultiplesOfTerm(Division& d) {
  const DimTerm& by = d.by[0];
  Polynomial quotient, rest;
  for (const DimTerm& t : d.rest) {
    DimTerm multiple = t;
    multiple.factor = t.factor / by.factor * by.factor;
    std::optional<DimTerm> q = multiple.factor == 0 ? std::nullopt : exactQuotient(multiple, by);
    if (q) quotient.push_back(*q);
    if (!q) rest.push_back(t);
    if (q && t.factor != multiple.factor) rest.push_back({t.atoms, t.factor - multiple.factor});
  }
  d.move(sum({}, quotient));
  d.rest = std::move(rest);
}

// Whether the quotient of what is left is one number for all values: then that is moved, and nothing is left.
bool isDecided(Division& d) {
  const WideInterval n = boundsOf(d.rest);
  std::optional<int64_t> value;
  if (d.isByNumber()) {
    const __int128 low = floorDivide(n.min, __int128{d.number()}), high = floorDivide(n.max, __int128{d.number()});
    if (low == high) value = static_cast<int64_t>(low);
  } else if (n.min >= 0 && boundsOf(sum(d.by, d.rest, -1)).min > 0) {
    value = 0;
  } else if (n.max < 0 && boundsOf(sum(d.by, d.rest)).min >= 0) {
    value = -1;
  }
  if (!value) return false;
  d.move(numberPolynomial(*value));
  d.rest.clear();
  return true;
}

// A common factor of numerator and divisor goes.
bool cancelContent(Division& d) {
  const int64_t own = d.isByNumber() ? d.number() : std::gcd(contentOf(d.by), constantOf(d.by));
  const int64_t common = std::gcd(contentOf(d.rest), own);
  if (common <= 1) return false;
  const int64_t constant = floorDivide(constantOf(d.rest), common);
  d.rest = withConstant(scaled(withConstant(d.rest, 0), 1, common), constant);
  d.by = scaled(d.by, 1, common);
  return true;
}

// Atoms that every term of both has, and that are positive, go.
bool cancelAtoms(Division& d) {
  if (d.isByNumber() || d.rest.empty()) return false;
  for (UOp atom : d.by[0].atoms) {
    if (atom.bounds().min <= 0) continue;
    const Polynomial factor = atomPolynomial(atom);
    std::optional<Polynomial> n = exactQuotient(d.rest, factor), by = exactQuotient(d.by, factor);
    if (!n || !by) continue;
    d.rest = std::move(*n), d.by = std::move(*by);
    return true;
  }
  return false;
}

// A divisor k*m*F with a sum F that also divides the numerator loses it.
bool cancelSum(Division& d) {
  if (d.by.size() < 2 || d.rest.empty()) return false;
  Polynomial factor = scaled(d.by, 1, std::max<int64_t>(1, std::gcd(contentOf(d.by), constantOf(d.by))));
  for (UOp atom : d.by[0].atoms)
    if (auto smaller = exactQuotient(factor, atomPolynomial(atom))) factor = std::move(*smaller);
  if (boundsOf(factor).min <= 0) return false;
  std::optional<Polynomial> n = exactQuotient(d.rest, factor), by = exactQuotient(d.by, factor);
  if (!n || !by) return false;
  d.rest = std::move(*n), d.by = std::move(*by);
  return true;
}

// s // b + B in the numerator, or B - s // b: one division less.
bool flattenQuotient(Division& d) {
  for (const DimTerm& t : d.rest) {
    if (t.atoms.size() != 1 || (t.factor != 1 && t.factor != -1) || t.atoms[0].op() != Op::Floordiv) continue;
    const UOp s = t.atoms[0].src(0), b = t.atoms[0].src(1);
    if (b.bounds().min <= 0 || !boundsOf(toPolynomial(d.g, s)).fits()) continue;
    Polynomial inner = toPolynomial(d.g, s), by = toPolynomial(d.g, b);
    if (t.factor < 0) inner = sum(sum(numberPolynomial(-1), by), inner, -1);
    Polynomial others = sum(d.rest, {t}, -1);
    if (others.size() * by.size() + inner.size() > kMaxDimTerms || by.size() * d.by.size() > kMaxDimTerms) continue;
    Polynomial rest = sum(std::move(inner), product(others, by)), divisor = product(d.by, by);
    if (!boundsOf(rest).fits() || !boundsOf(divisor).fits() || boundsOf(divisor).min <= 0) continue;
    d.rest = std::move(rest), d.by = std::move(divisor);
    return true;
  }
  return false;
}

bool startNegative(const Polynomial& p) { return !p.empty() && !p[0].atoms.empty() && p[0].factor < 0; }

// -((-B + c - 1) // c), where B begins with a negative factor
bool turnSign(Division& d) {
  if (!startNegative(d.rest)) return false;
  Polynomial rest = sum(sum(numberPolynomial(-1), d.by), d.rest, -1);
  if (!boundsOf(rest).fits() || startNegative(rest)) return false;
  d.rest = std::move(rest);
  d.sign = -d.sign;
  return true;
}

bool isMinOrMax(UOp u) { return u.op() == Op::Min || u.op() == Op::Max; }

UOp built(Division& d) {
  Graph& g = d.g;
  const UOp by = toDim(g, d.by);
  const bool isChoice = d.isByNumber() && !d.rest.empty() && d.rest[0].atoms.size() == 1 && d.rest[0].factor == 1 &&
                        isMinOrMax(d.rest[0].atoms[0]) && isNumber(sum(d.rest, {d.rest[0]}, -1));
  if (!isChoice) return g.alu(Op::Floordiv, {toDim(g, d.rest), by});
  const UOp choice = d.rest[0].atoms[0], offset = g.index(constantOf(d.rest));
  UOp a = floordivDims(g, addDims(g, choice.src(0), offset), by);
  UOp b = floordivDims(g, addDims(g, choice.src(1), offset), by);
  return choice.op() == Op::Min ? minDims(g, a, b) : maxDims(g, a, b);
}

UOp folded(Graph& g, Op op, UOp a, UOp b) {
  Scalar operands[] = {a.constant(), b.constant()};
  return g.constant(evalScalar(op, DType::Index, operands));
}

UOp quotientOf(Graph& g, const Polynomial& a, const Polynomial& b) {
  Division d{g, {}, a, b};
  for (int step = 0; step < kMaxSteps; ++step) {
    if (d.isByNumber())
      takeMultiplesOfNumber(d);
    else if (d.by.size() == 1 && d.by[0].factor > 0)
      takeMultiplesOfTerm(d);
    if (d.isByNumber() && d.number() == 1) break;
    if (d.rest.empty() || isDecided(d)) break;
    if (!cancelContent(d) && !cancelAtoms(d) && !cancelSum(d) && !flattenQuotient(d) && !turnSign(d)) break;
  }
  if (d.rest.empty()) return toDim(g, d.whole);
  const UOp quotient = built(d);
  return toDim(g, sum(std::move(d.whole), toPolynomial(g, quotient), d.sign));
}

// Bounds of a node may see less than those of its polynomial: what is at least 1 by these says so where it divides.
UOp divisorOf(Graph& g, UOp b) {
  const bool isSeen = b.bounds().min > 0 || b.bounds().max <= 0;
  return isSeen || boundsOfDifference(g, toPolynomial(g, b)).min < 1 ? b : g.alu(Op::Max, {b, g.index(1)});
}

}  // namespace

UOp floordivDims(Graph& g, UOp a, UOp b) {
  b = divisorOf(g, b);
  if (b.isConst(1)) return a;
  if (a.isConst() && b.isConst()) return folded(g, Op::Floordiv, a, b);
  if (a == b && a.bounds().min > 0) return g.index(1);
  if (b.bounds().max < 0 && b.bounds().min > INT64_MIN)
    return floordivDims(g, subDims(g, g.index(0), a), subDims(g, g.index(0), b));
  const Polynomial n = toPolynomial(g, a), by = toPolynomial(g, b);
  const bool isSafe = b.bounds().min > 0 && boundsOf(n).fits() && boundsOf(by).fits() && n.size() <= kMaxDimTerms &&
                      by.size() <= kMaxDimTerms;
  return isSafe ? quotientOf(g, n, by) : g.alu(Op::Floordiv, {a, b});
}

UOp floormodDims(Graph& g, UOp a, UOp b) {
  b = divisorOf(g, b);
  if (a.isConst() && b.isConst()) return folded(g, Op::Floormod, a, b);
  if (b.bounds().min <= 0 || !boundsOf(toPolynomial(g, a)).fits()) return g.alu(Op::Floormod, {a, b});
  UOp remainder = subDims(g, a, mulDims(g, b, floordivDims(g, a, b)));
  // A sum with the quotient in it says less about its value than the remainder does.
  const Interval& found = remainder.bounds();
  return found.min >= 0 && found.max < b.bounds().max ? remainder : g.alu(Op::Floormod, {a, b});
}

}  // namespace svod
