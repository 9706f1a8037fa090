#include "symbolic/divmod.h"

#include <algorithm>
#include <numeric>

namespace svod {

using namespace detail;

namespace {

Linear scaled(const Linear& form, int64_t factor) {
  Linear result;
  result.add(form, factor);
  return result;
}

// n divided by g, which divides every coefficient; the constant is rounded down.
Linear divideTerms(const Linear& n, int64_t g) {
  Linear result;
  for (const Term& t : n.terms) result.add(t.base, t.coef / g);
  result.add(floorDivide(n.constant, g));
  return result;
}

// Terms whose coefficient is a multiple of c (divided by it) and everything else, constant included.
SplitSum splitMultiples(const Linear& n, int64_t c) {
  SplitSum split;
  for (const Term& t : n.terms)
    t.coef % c == 0 ? split.multiples.add(t.base, t.coef / c) : split.rest.add(t.base, t.coef);
  split.rest.add(n.constant);
  return split;
}

// Divisors of c among the coefficients' magnitudes, largest first: candidates for dividing in two steps.
std::vector<int64_t> stepDivisors(const Linear& n, int64_t c) {
  std::vector<int64_t> steps;
  for (const Term& t : n.terms) {
    int64_t f = std::gcd(t.coef, c);
    if (f > 1 && f < c) steps.push_back(f);
  }
  std::sort(steps.begin(), steps.end(), std::greater<>());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

}  // namespace

Linear IndexMath::linear(UOp n) const {
  Linear form = linearOf(n);
  if (!facts) return form;
  Linear result;
  result.overflow = form.overflow;
  result.add(form.constant);
  for (const Term& t : form.terms) {
    Interval b = facts->of(t.base);
    int64_t value = 0;
    if (b.isConst()) {
      result.overflow |= __builtin_mul_overflow(b.min, t.coef, &value);
      result.add(value);
    } else {
      result.add(t.base, t.coef);
    }
  }
  return result;
}

std::optional<int64_t> IndexMath::onlyQuotient(const Linear& n, int64_t c) const {
  Interval b = bounds(n);
  int64_t low = floorDivide(b.min, c);
  return low == floorDivide(b.max, c) ? std::optional(low) : std::nullopt;
}

// The remainder n mod c, when replacing every coefficient by its remainder nearest to zero gives a sum that stays
// inside one multiple of c. A lone term tries both remainders.
std::optional<Linear> IndexMath::congruent(const Linear& n, int64_t c) const {
  for (bool other : {false, true}) {
    if (other && n.terms.size() != 1) break;
    Linear r;
    for (const Term& t : n.terms) {
      int64_t low = floorModulo(t.coef, c);
      bool takeLow = low <= c - low;
      r.add(t.base, takeLow != other ? low : low - c);
    }
    r.add(floorModulo(n.constant, c));
    if (std::optional<int64_t> q = onlyQuotient(r, c)) {
      r.add(-*q * c);
      return r;
    }
  }
  return std::nullopt;
}

std::optional<IndexMath::FirstStep> IndexMath::firstStep(const Linear& n, int64_t c) const {
  for (int64_t f : stepDivisors(n, c)) {
    auto [multiples, others] = splitMultiples(n, f);
    std::optional<int64_t> q = onlyQuotient(others, f);
    if (!q) continue;
    multiples.add(*q);
    others.add(-*q * f);
    return FirstStep{f, std::move(multiples), std::move(others)};
  }
  return std::nullopt;
}

Linear IndexMath::floorDiv(const Linear& n, int64_t c) const {
  if (c == 1 || n.overflow) return n;
  if (std::optional<int64_t> q = onlyQuotient(n, c)) {
    Linear result;
    result.add(*q);
    return result;
  }
  // n = c * whole + rest with 0 <= rest.constant < c
  auto [whole, rest] = splitMultiples(n, c);
  whole.add(floorDivide(rest.constant, c));
  rest.constant = floorModulo(rest.constant, c);
  if (rest.isConst()) return whole;
  if (std::optional<int64_t> q = onlyQuotient(rest, c)) return whole.add(*q), whole;
  if (std::optional<Linear> r = congruent(rest, c)) {
    Linear difference = rest;
    difference.add(*r, -1);
    whole.add(divideTerms(difference, c), 1);
    return whole;
  }
  if (int64_t g = std::gcd(gcdOfTerms(rest), c); g > 1) {
    whole.add(floorDiv(divideTerms(rest, g), c / g), 1);
    return whole;
  }
  if (std::optional<FirstStep> first = firstStep(rest, c)) {
    whole.add(floorDiv(first->quotient, c / first->divisor), 1);
    return whole;
  }
  if (rest.terms.size() == 1 && rest.terms[0].coef == 1) {
    UOp v = rest.terms[0].base;
    int64_t d = 0, product = 0;
    if (isConstDivisor(v, Op::Floordiv) && !__builtin_mul_overflow(d = v.src(1).constInt(), c, &product)) {
      Linear inner = linear(v.src(0));  // (x // d + k) // c = (x + k * d) // (c * d)
      inner.add(rest.constant * d);     // below c * d
      if (!inner.overflow) return whole.add(floorDiv(inner, product), 1), whole;
    }
    if (isConstDivisor(v, Op::Floormod) && rest.constant == 0 && v.src(1).constInt() % c == 0) {
      Linear quotient = floorDiv(linear(v.src(0)), c);  // (x % (m * c)) // c = (x // c) % m
      if (!quotient.overflow) return whole.add(floorMod(quotient, v.src(1).constInt() / c), 1), whole;
    }
  }
  UOp numerator = build(graph, rest);
  if (!numerator) return whole.overflow = true, whole;
  whole.add(graph.alu(Op::Floordiv, {numerator, graph.index(c)}), 1);
  return whole;
}

Linear IndexMath::floorMod(const Linear& n, int64_t c) const {
  if (n.overflow) return n;
  if (c == 1) return {};
  if (std::optional<int64_t> q = onlyQuotient(n, c); q && std::abs(*q) < INT64_MAX / c) {
    Linear result = n;
    result.add(-*q * c);
    return result;
  }
  // Multiples of c vanish, also those hidden in inner remainders: f * (a % d) = f * a - f * d * (a // d).
  Linear rest;
  std::vector<Term> pending = n.terms;
  while (!pending.empty()) {
    Term t = pending.back();
    pending.pop_back();
    t.coef = floorModulo(t.coef, c);
    int64_t product = 0;
    if (isConstDivisor(t.base, Op::Floormod) && !__builtin_mul_overflow(t.coef, t.base.src(1).constInt(), &product) &&
        product % c == 0) {
      Linear inner = linear(t.base.src(0));
      inner.overflow |= __builtin_mul_overflow(floorModulo(inner.constant, c), t.coef, &product);
      if (inner.overflow) return inner;
      rest.add(floorModulo(product, c));
      for (const Term& i : inner.terms) {
        if (__builtin_mul_overflow(floorModulo(i.coef, c), t.coef, &product)) return rest.overflow = true, rest;
        pending.push_back({i.base, product});
      }
    } else {
      rest.add(t.base, t.coef);
    }
  }
  for (Term& t : rest.terms) t.coef = floorModulo(t.coef, c);
  std::erase_if(rest.terms, [](const Term& t) { return t.coef == 0; });
  rest.constant = floorModulo(floorModulo(rest.constant, c) + floorModulo(n.constant, c), c);
  if (std::optional<int64_t> q = onlyQuotient(rest, c)) return rest.add(-*q * c), rest;
  if (std::optional<Linear> r = congruent(rest, c)) return *r;
  if (int64_t g = std::gcd(gcdOfTerms(rest), c); g > 1) {
    Linear result = scaled(floorMod(divideTerms(rest, g), c / g), g);
    result.add(rest.constant % g);
    return result;
  }
  if (std::optional<FirstStep> first = firstStep(rest, c)) {
    Linear result = scaled(floorMod(first->quotient, c / first->divisor), first->divisor);
    result.add(first->remainder, 1);
    return result;
  }
  UOp numerator = build(graph, rest);
  if (!numerator) return rest.overflow = true, rest;
  return single(graph.alu(Op::Floormod, {numerator, graph.index(c)}));
}

}  // namespace svod
