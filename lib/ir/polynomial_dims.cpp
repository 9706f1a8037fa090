// Dims read as polynomials, and written again.
#include <algorithm>

#include "ir/polynomial_parts.h"
#include "ir/shape.h"

namespace svod {

using namespace detail;

namespace {

bool isSum(UOp dim) { return dim.op() == Op::Add || dim.op() == Op::Sub; }

// Terms are put in order once, however long the sum is.
Polynomial sumOf(Graph& g, UOp dim) {
  Polynomial all;
  auto add = [&](UOp part, bool isNegative) {
    for (DimTerm& t : toPolynomial(g, part)) {
      if (isNegative) t.factor = wrapMul(t.factor, -1);
      all.push_back(std::move(t));
    }
  };
  for (; isSum(dim) && !isSum(dim.src(1)); dim = dim.src(0)) add(dim.src(1), dim.op() == Op::Sub);
  add(dim, false);
  normalize(all);
  return all;
}

}  // namespace

Polynomial toPolynomial(Graph& g, UOp dim) {
  if (dim.isConst()) return numberPolynomial(dim.constInt());
  if (dim.dtype() != DType::Index) return atomPolynomial(dim);
  if (isSum(dim) && !isSum(dim.src(1))) return sumOf(g, dim);
  if (dim.op() == Op::Mul && !isSum(dim.src(1)) && dim.src(1).op() != Op::Mul) {
    Polynomial left = toPolynomial(g, dim.src(0)), right = toPolynomial(g, dim.src(1));
    if (hasShortProduct(left, right)) return product(left, right);
  }
  if (dim.op() == Op::Floormod && dim.src(1).bounds().min > 0) {
    Polynomial a = toPolynomial(g, dim.src(0)), b = toPolynomial(g, dim.src(1));
    Polynomial quotient = toPolynomial(g, floordivDims(g, dim.src(0), dim.src(1)));
    if (a.size() + b.size() * quotient.size() <= kMaxDimTerms) return sum(std::move(a), product(b, quotient), -1);
  }
  return atomPolynomial(dim);
}

namespace {

// Whether every term of `part` is one of `whole`; the constant of `part` may be missing there.
bool isPartOf(const Polynomial& part, const Polynomial& whole) {
  return std::ranges::all_of(
      part, [&](const DimTerm& t) { return t.atoms.empty() || std::ranges::find(whole, t) != whole.end(); });
}

DimTerm without(const DimTerm& t, UOp atom) {
  DimTerm rest = t;
  rest.atoms.erase(std::ranges::find(rest.atoms, atom));
  return rest;
}

// f*m * (s - d * (s // d)) = f*m * (s % d), where p has all of it.
bool foldRemainder(Graph& g, Polynomial& p, const DimTerm& t, UOp quotient) {
  const UOp s = quotient.src(0), d = quotient.src(1);
  if (d.bounds().min <= 0) return false;
  const Polynomial whole = toPolynomial(g, s), by = toPolynomial(g, d);
  if (isNumber(whole) || by.empty()) return false;
  std::optional<DimTerm> cofactor = exactQuotient(without(t, quotient), by[0]);
  if (!cofactor || cofactor->factor == INT64_MIN) return false;
  cofactor->factor = -cofactor->factor;
  Polynomial all = sum(whole, product(by, atomPolynomial(quotient)), -1);
  all = product({*cofactor}, all);
  if (!isPartOf(all, p)) return false;
  cofactor->atoms.push_back(g.alu(Op::Floormod, {s, d}));
  std::sort(cofactor->atoms.begin(), cofactor->atoms.end(), structuralLess);
  p = sum(sum(std::move(p), all, -1), {*cofactor});
  return true;
}

// f*m * (s // e) - f*m*c * (s // (e*c)) = f*m * ((s // e) % c)
bool foldNested(Graph& g, Polynomial& p, const DimTerm& t, UOp quotient) {
  if (!quotient.src(1).isConst()) return false;
  const int64_t by = quotient.src(1).constInt();
  const DimTerm rest = without(t, quotient);
  for (const DimTerm& other : p) {
    for (UOp inner : other.atoms) {
      if (inner.op() != Op::Floordiv || inner == quotient || !inner.src(1).isConst()) continue;
      const int64_t e = inner.src(1).constInt();
      if (e <= 1 || by <= e || by % e != 0) continue;
      DimTerm cofactor = without(other, inner);
      if (cofactor.atoms != rest.atoms || rest.factor != wrapMul(cofactor.factor, -(by / e))) continue;
      if (floordivDims(g, inner, g.index(by / e)) != quotient) continue;
      Polynomial all{{other.atoms, other.factor}, t};
      cofactor.atoms.push_back(g.alu(Op::Floormod, {inner, g.index(by / e)}));
      std::sort(cofactor.atoms.begin(), cofactor.atoms.end(), structuralLess);
      normalize(all);
      p = sum(sum(std::move(p), all, -1), {cofactor});
      return true;
    }
  }
  return false;
}

// f*m * min(a, b) + f*m * max(a, b) = f*m * (a + b)
bool foldBoth(Graph& g, Polynomial& p, const DimTerm& t, UOp least) {
  const DimTerm rest = without(t, least);
  for (const DimTerm& other : p)
    for (UOp greatest : other.atoms) {
      if (greatest.op() != Op::Max || greatest.src(0) != least.src(0) || greatest.src(1) != least.src(1)) continue;
      if (without(other, greatest) != rest) continue;
      const Polynomial both = sum(toPolynomial(g, least.src(0)), toPolynomial(g, least.src(1)));
      if (!hasShortProduct({rest}, both)) return false;
      const Polynomial gone = sum({t}, {other});
      p = sum(sum(std::move(p), gone, -1), product({rest}, both));
      return true;
    }
  return false;
}

bool foldOne(Graph& g, Polynomial& p) {
  for (const DimTerm& t : p)
    for (UOp atom : t.atoms) {
      DimTerm term = t;
      if (atom.op() == Op::Min && foldBoth(g, p, term, atom)) return true;
      if (atom.op() != Op::Floordiv) continue;
      if (foldRemainder(g, p, term, atom) || foldNested(g, p, term, atom)) return true;
    }
  return false;
}

}  // namespace

UOp toDim(Graph& g, const Polynomial& polynomial) {
  Polynomial p = polynomial;
  for (size_t i = 0; i < kMaxDimTerms && p.size() > 1 && foldOne(g, p);) ++i;
  UOp total;
  for (const DimTerm& t : p) {
    UOp value;
    for (UOp atom : t.atoms) value = value ? g.alu(Op::Mul, {value, atom}) : atom;
    if (!value)
      value = g.index(t.factor);
    else if (t.factor != 1)
      value = g.alu(Op::Mul, {value, g.index(t.factor)});
    total = total ? g.alu(Op::Add, {total, value}) : value;
  }
  return total ? total : g.index(0);
}

}  // namespace svod
