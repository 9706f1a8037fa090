// Where a polynomial lies when its atoms lie in their bounds.
#include <algorithm>

#include "ir/polynomial_parts.h"
#include "support/integers.h"

namespace svod {

using namespace detail;

namespace {

using Wide = __int128;
constexpr Wide kWideMax = (Wide{1} << 126), kWideMin = -kWideMax;

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

namespace {

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

// d * (s // d) = s - r with 0 <= r < d: quotients by numbers give way to their numerators, one after the other, and
// what is left is a multiple of p. 2 * ((n + 3) // 4) - (n + 1) // 2 lies in [0, 1].
WideInterval boundsWithoutQuotients(Graph& g, Polynomial p) {
  constexpr int kMaxSteps = 6;
  WideInterval best = boundsOf(p), rest;
  Wide scale = 1;
  for (int step = 0; step < kMaxSteps && isModest(p); ++step) {
    const auto at = std::ranges::find_if(p, [](const DimTerm& t) { return bool(quotientIn(t)); });
    if (at == p.end()) break;
    const DimTerm t = *at;
    const Polynomial numerator = toPolynomial(g, quotientIn(t).src(0));
    const int64_t by = quotientIn(t).src(1).constInt();
    scale *= by;
    if (by >= INT32_MAX || scale >= INT32_MAX || !isModest(numerator) || !boundsOf(numerator).fits()) break;
    p = sum(scaled(sum(p, {t}, -1), by, 1), numerator, t.factor);
    if (p.size() > kMaxDimTerms || !boundsOf(p).fits()) break;
    const WideInterval less = mulWide({0, by - 1}, {t.factor, t.factor});
    rest = mulWide(rest, {by, by});
    rest = {addWide(rest.min, -less.max), addWide(rest.max, -less.min)};
    const WideInterval all = boundsOf(p);
    best.min = std::max(best.min, -floorDivide(-addWide(all.min, rest.min), scale));
    best.max = std::min(best.max, floorDivide(addWide(all.max, rest.max), scale));
  }
  return best;
}

WideInterval boundsWithPairs(Graph& g, Polynomial p) {
  const WideInterval plain = boundsWithoutQuotients(g, p);
  WideInterval paired;
  while (std::optional<WideInterval> apart = takePair(g, p))
    paired = {addWide(paired.min, apart->min), addWide(paired.max, apart->max)};
  const WideInterval rest = boundsOf(p);
  return {std::max(plain.min, addWide(paired.min, rest.min)), std::min(plain.max, addWide(paired.max, rest.max))};
}

bool isChoice(const DimTerm& t) {
  return t.atoms.size() == 1 && (t.atoms[0].op() == Op::Max || t.atoms[0].op() == Op::Min);
}

// p with operand i of the choice that `t` is a multiple of in its place. Nothing where that may wrap.
std::optional<Polynomial> withOperand(Graph& g, const Polynomial& p, const DimTerm& t, size_t i) {
  const Polynomial operand = toPolynomial(g, t.atoms[0].src(i));
  if (!isModest(operand) || !boundsOf(operand).fits()) return std::nullopt;
  Polynomial all = sum(sum(p, {t}, -1), operand, t.factor);
  return all.size() <= kMaxDimTerms && boundsOf(all).fits() ? std::optional(std::move(all)) : std::nullopt;
}

// f * max(a, b) + c is the greater one of f * a + c and f * b + c for f > 0, and the lesser one for f < 0.
WideInterval boundsOfChoices(Graph& g, const Polynomial& p, int depth) {
  const WideInterval plain = boundsWithPairs(g, p);
  const auto choice = std::ranges::find_if(p, isChoice);
  if (depth == 0 || choice == p.end() || p.size() < 2 || !isModest(p) || !boundsOf(p).fits()) return plain;
  const std::optional<Polynomial> first = withOperand(g, p, *choice, 0), second = withOperand(g, p, *choice, 1);
  if (!first || !second) return plain;
  const WideInterval a = boundsOfChoices(g, *first, depth - 1), b = boundsOfChoices(g, *second, depth - 1);
  const bool isGreater = (choice->atoms[0].op() == Op::Max) == (choice->factor > 0);
  const WideInterval either = isGreater ? WideInterval{std::max(a.min, b.min), std::max(a.max, b.max)}
                                        : WideInterval{std::min(a.min, b.min), std::min(a.max, b.max)};
  return {std::max(plain.min, either.min), std::min(plain.max, either.max)};
}

}  // namespace

WideInterval boundsOfDifference(Graph& g, Polynomial p) {
  constexpr int kMaxChoicesOfBounds = 3;
  return boundsOfChoices(g, p, kMaxChoicesOfBounds);
}

}  // namespace svod
