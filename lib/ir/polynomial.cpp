#include "ir/polynomial.h"

#include <algorithm>
#include <numeric>

#include "ir/shape.h"

namespace svod {

namespace {

using Wide = __int128;
constexpr Wide kWideMax = (Wide{1} << 126), kWideMin = -kWideMax;

bool termLess(const DimTerm& a, const DimTerm& b) {
  if (a.atoms.empty() != b.atoms.empty()) return b.atoms.empty();
  return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), structuralLess);
}

int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

void normalize(Polynomial& p) {
  std::sort(p.begin(), p.end(), termLess);
  Polynomial merged;
  for (DimTerm& t : p) {
    if (!merged.empty() && merged.back().atoms == t.atoms)
      merged.back().factor = wrapAdd(merged.back().factor, t.factor);
    else
      merged.push_back(std::move(t));
  }
  std::erase_if(merged, [](const DimTerm& t) { return t.factor == 0; });
  p = std::move(merged);
}

DimTerm product(const DimTerm& x, const DimTerm& y) {
  DimTerm t{x.atoms, wrapMul(x.factor, y.factor)};
  t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
  std::sort(t.atoms.begin(), t.atoms.end(), structuralLess);
  return t;
}

}  // namespace

Polynomial numberPolynomial(int64_t value) { return value == 0 ? Polynomial{} : Polynomial{{{}, value}}; }
Polynomial atomPolynomial(UOp atom) { return {{{atom}, 1}}; }

Polynomial sum(Polynomial a, const Polynomial& b, int64_t factor) {
  for (const DimTerm& t : b) a.push_back({t.atoms, wrapMul(t.factor, factor)});
  normalize(a);
  return a;
}

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  for (const DimTerm& x : a)
    for (const DimTerm& y : b) out.push_back(product(x, y));
  normalize(out);
  return out;
}

int64_t constantOf(const Polynomial& p) { return !p.empty() && p.back().atoms.empty() ? p.back().factor : 0; }

Polynomial withConstant(Polynomial p, int64_t value) {
  if (!p.empty() && p.back().atoms.empty()) p.pop_back();
  if (value != 0) p.push_back({{}, value});
  return p;
}

int64_t contentOf(const Polynomial& p) {
  uint64_t content = 0;
  for (const DimTerm& t : p) {
    const uint64_t factor = static_cast<uint64_t>(t.factor);
    if (!t.atoms.empty()) content = std::gcd(content, t.factor < 0 ? 0 - factor : factor);
  }
  return static_cast<int64_t>(std::min<uint64_t>(content, INT64_MAX));
}

Polynomial scaled(Polynomial p, int64_t numerator, int64_t denominator) {
  for (DimTerm& t : p) t.factor = wrapMul(t.factor / denominator, numerator);
  std::erase_if(p, [](const DimTerm& t) { return t.factor == 0; });
  return p;
}

std::optional<DimTerm> exactQuotient(const DimTerm& t, const DimTerm& d) {
  if (d.factor == 0 || (d.factor == -1 && t.factor == INT64_MIN) || t.factor % d.factor != 0) return std::nullopt;
  DimTerm q{t.atoms, t.factor / d.factor};
  for (UOp atom : d.atoms) {
    auto at = std::find(q.atoms.begin(), q.atoms.end(), atom);
    if (at == q.atoms.end()) return std::nullopt;
    q.atoms.erase(at);
  }
  return q;
}

namespace {

int degree(const DimTerm& t) { return static_cast<int>(t.atoms.size()); }

// The term that leads in an order that products keep: by degree, then by how often atoms occur in structural order.
const DimTerm& leading(const Polynomial& p) {
  return *std::min_element(p.begin(), p.end(), [](const DimTerm& a, const DimTerm& b) {
    if (degree(a) != degree(b)) return degree(a) > degree(b);
    return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), structuralLess);
  });
}

bool isModest(const Polynomial& p) {  // products of two such factors do not wrap
  return std::ranges::all_of(p, [](const DimTerm& t) { return t.factor < INT32_MAX && t.factor > INT32_MIN; });
}

}  // namespace

// The leading term of a product is the product of the leading terms, so dividing them finds the quotient term by term.
std::optional<Polynomial> exactQuotient(const Polynomial& a, const Polynomial& b) {
  if (b.size() == 1) {
    Polynomial q;
    for (const DimTerm& t : a) {
      std::optional<DimTerm> part = exactQuotient(t, b[0]);
      if (!part) return std::nullopt;
      q.push_back(*part);
    }
    normalize(q);
    return q;
  }
  if (b.empty() || !isModest(a) || !isModest(b)) return std::nullopt;
  Polynomial rest = a, quotient;
  const DimTerm lead = leading(b);
  for (size_t i = 0; i <= kMaxDimTerms && !rest.empty(); ++i) {
    std::optional<DimTerm> part = exactQuotient(leading(rest), lead);
    if (!part || rest.size() > kMaxDimTerms) return std::nullopt;
    rest = sum(std::move(rest), product({*part}, b), -1);
    if (!isModest(rest)) return std::nullopt;
    quotient.push_back(std::move(*part));
  }
  if (!rest.empty()) return std::nullopt;
  normalize(quotient);
  return quotient;
}

namespace {

Wide saturated(Wide value) { return std::clamp(value, kWideMin, kWideMax); }
Wide addWide(Wide a, Wide b) { return saturated(saturated(a) + saturated(b)); }
Wide mulWide(Wide a, Wide b) {
  Wide out = 0;
  if (!__builtin_mul_overflow(a, b, &out)) return saturated(out);
  return (a < 0) == (b < 0) ? kWideMax : kWideMin;
}

WideInterval mulWide(WideInterval a, WideInterval b) {
  Wide v[4] = {mulWide(a.min, b.min), mulWide(a.min, b.max), mulWide(a.max, b.min), mulWide(a.max, b.max)};
  return {*std::min_element(v, v + 4), *std::max_element(v, v + 4)};
}

WideInterval termBounds(const DimTerm& t) {
  WideInterval all{t.factor, t.factor};
  for (UOp atom : t.atoms) all = mulWide(all, {atom.bounds().min, atom.bounds().max});
  return all;
}

WideInterval boundsTermByTerm(const Polynomial& p) {
  WideInterval all;
  for (const DimTerm& t : p) {
    WideInterval part = termBounds(t);
    all = {addWide(all.min, part.min), addWide(all.max, part.max)};
  }
  return all;
}

// How p changes with an atom: the terms that hold it, without it. Nothing where it stands to a higher power.
std::optional<Polynomial> slope(const Polynomial& p, UOp atom) {
  Polynomial out;
  for (DimTerm t : p) {
    auto count = std::ranges::count(t.atoms, atom);
    if (count == 0) continue;
    if (count > 1) return std::nullopt;
    t.atoms.erase(std::ranges::find(t.atoms, atom));
    out.push_back(std::move(t));
  }
  return out;
}

Polynomial withValue(Polynomial p, UOp atom, int64_t value) {
  for (DimTerm& t : p) {
    while (true) {
      auto at = std::ranges::find(t.atoms, atom);
      if (at == t.atoms.end()) break;
      t.atoms.erase(at);
      t.factor = wrapMul(t.factor, value);
    }
  }
  normalize(p);
  return p;
}

bool isSmall(Wide a, Wide b) { return std::max(a < 0 ? -a : a, b < 0 ? -b : b) < INT32_MAX; }

// Atoms that p depends on linearly, in several terms: their least or greatest value gives an end of p.
UOp sharedAtom(const Polynomial& p) {
  for (size_t i = 0; i < p.size(); ++i)
    for (UOp atom : p[i].atoms)
      for (size_t j = i + 1; j < p.size(); ++j)
        if (std::ranges::find(p[j].atoms, atom) != p[j].atoms.end() && slope(p, atom) &&
            isSmall(atom.bounds().min, atom.bounds().max))
          return atom;
  return UOp();
}

WideInterval boundsByCorners(const Polynomial& p, int depth) {
  WideInterval all = boundsTermByTerm(p);
  if (depth == 0 || !isModest(p) || !all.fits()) return all;
  UOp atom = sharedAtom(p);
  if (!atom) return all;
  const Interval& ends = atom.bounds();
  WideInterval low = boundsByCorners(withValue(p, atom, ends.min), depth - 1);
  WideInterval high = boundsByCorners(withValue(p, atom, ends.max), depth - 1);
  return {std::max(all.min, std::min(low.min, high.min)), std::min(all.max, std::max(low.max, high.max))};
}

}  // namespace

// Linear in each atom that is tried, so an end lies where it is least or greatest.
WideInterval boundsOf(const Polynomial& p) { return boundsByCorners(p, 4); }

// --- Reading and writing

namespace {

Wide floorDivide(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// The quotient by a number that is a term's only atom; null for other terms.
UOp quotientIn(const DimTerm& t) {
  const bool isOne = t.atoms.size() == 1 && t.atoms[0].op() == Op::Floordiv && t.atoms[0].src(1).isConst();
  return isOne && t.atoms[0].src(1).constInt() > 0 ? t.atoms[0] : UOp();
}

// s // c - t // c lies between (s - t) / c rounded down and rounded up. Nothing where s or t may wrap.
std::optional<WideInterval> quotientsApart(Graph& g, UOp a, UOp b) {
  const Wide c = a.src(1).constInt();
  const Polynomial s = toPolynomial(g, a.src(0)), t = toPolynomial(g, b.src(0));
  if (!boundsOf(s).fits() || !boundsOf(t).fits()) return std::nullopt;
  const WideInterval apart = boundsOf(sum(s, t, -1));
  return WideInterval{floorDivide(apart.min, c), -floorDivide(-apart.max, c)};
}

// Terms f * (s // c) and -f * (t // c) leave p; where they lie.
std::optional<WideInterval> takePair(Graph& g, Polynomial& p) {
  for (const DimTerm& t : p)
    for (const DimTerm& u : p) {
      UOp a = quotientIn(t), b = quotientIn(u);
      if (!a || !b || t.factor <= 0 || u.factor != -t.factor || a.src(1) != b.src(1)) continue;
      const std::optional<WideInterval> one = quotientsApart(g, a, b);
      if (!one) continue;
      const WideInterval apart = mulWide(*one, {t.factor, t.factor});
      p = sum(sum(p, {t}, -1), {u}, -1);
      return apart;
    }
  return std::nullopt;
}

}  // namespace

WideInterval boundsOfDifference(Graph& g, Polynomial p) {
  const WideInterval plain = boundsOf(p);
  WideInterval paired;
  while (std::optional<WideInterval> apart = takePair(g, p))
    paired = {addWide(paired.min, apart->min), addWide(paired.max, apart->max)};
  const WideInterval rest = boundsOf(p);
  return {std::max(plain.min, addWide(paired.min, rest.min)), std::min(plain.max, addWide(paired.max, rest.max))};
}

namespace {

bool isSum(UOp dim) { return dim.op() == Op::Add || dim.op() == Op::Sub; }

}  // namespace

Polynomial toPolynomial(Graph& g, UOp dim) {
  if (dim.isConst()) return numberPolynomial(dim.constInt());
  if (dim.dtype() != DType::Index) return atomPolynomial(dim);
  if (isSum(dim) && !isSum(dim.src(1)))
    return sum(toPolynomial(g, dim.src(0)), toPolynomial(g, dim.src(1)), dim.op() == Op::Add ? 1 : -1);
  if (dim.op() == Op::Mul && !isSum(dim.src(1)) && dim.src(1).op() != Op::Mul) {
    Polynomial left = toPolynomial(g, dim.src(0)), right = toPolynomial(g, dim.src(1));
    if (left.size() * right.size() <= kMaxDimTerms) return product(left, right);
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

bool foldOne(Graph& g, Polynomial& p) {
  for (const DimTerm& t : p)
    for (UOp atom : t.atoms) {
      if (atom.op() != Op::Floordiv) continue;
      DimTerm term = t;
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
