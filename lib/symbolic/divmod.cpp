#include "symbolic/divmod.h"

#include <algorithm>
#include <numeric>

namespace svod {

namespace {

bool isConstDivisor(UOp n, Op op) {
  return n.op() == op && n.dtype() == DType::Index && n.src(1).isConst() && n.src(1).constInt() > 0;
}

Linear single(UOp base) {
  Linear form;
  form.add(base, 1);
  return form;
}

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
struct Split {
  Linear multiples, rest;
};
Split splitMultiples(const Linear& n, int64_t c) {
  Split split;
  for (const Term& t : n.terms) t.coef % c == 0 ? split.multiples.add(t.base, t.coef / c) : split.rest.add(t.base, t.coef);
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

namespace {

// Adds coef * product(factors), constant factors pulled out.
void addProduct(Graph& graph, Linear& form, std::vector<UOp> factors, int64_t coef) {
  for (UOp f : factors)
    if (f.isConst()) form.overflow |= __builtin_mul_overflow(coef, f.constInt(), &coef);
  std::erase_if(factors, [](UOp f) { return f.isConst(); });
  if (UOp product = buildProduct(graph, std::move(factors)))
    form.add(product, coef);
  else
    form.add(coef);
}

// An upper bound of `form` without the ranges whose ends are not constant: they take their last value when their
// coefficient is positive and 0 when it is negative. Nothing when a coefficient's sign is unknown.
std::optional<Linear> withoutSymbolicRanges(Graph& graph, const Linear& form) {
  Linear result;
  result.add(form.constant);
  for (const Term& t : form.terms) {
    std::vector<UOp> factors;
    flattenFactors(t.base, factors);
    auto range = std::find_if(factors.begin(), factors.end(),
                              [](UOp f) { return f.op() == Op::Range && !f.src(0).isConst(); });
    if (range == factors.end()) {
      result.add(t.base, t.coef);
      continue;
    }
    UOp end = (*range).src(0);
    factors.erase(range);
    if (end.bounds().min < 1) return std::nullopt;
    for (UOp f : factors)
      if (f.bounds().min < 0 || !f.ranges().empty()) return std::nullopt;
    if (t.coef < 0) continue;
    addProduct(graph, result, factors, -t.coef);  // coef * factors * (end - 1)
    Linear last = linearOf(end);
    if (last.terms.size() != 1 || last.constant != 0) {
      if (!factors.empty()) return std::nullopt;
      result.add(last, t.coef);
      continue;
    }
    flattenFactors(end, factors);
    addProduct(graph, result, std::move(factors), t.coef);
  }
  return result;
}

}  // namespace

bool IndexMath::alwaysNegative(const Linear& form) const {
  if (form.overflow) return false;
  if (bounds(form).max < 0) return true;
  std::optional<Linear> greatest = withoutSymbolicRanges(graph, form);
  return greatest && !greatest->overflow && bounds(*greatest).max < 0;
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

namespace {

// t.coef * t.base divided by `divisor`, when its factors contain those of the divisor.
std::optional<Term> divideExactly(Graph& graph, const Term& t, UOp divisor) {
  Linear d = linearOf(divisor);
  if (d.overflow || d.constant != 0 || d.terms.size() != 1 || t.coef % d.terms[0].coef != 0) return std::nullopt;
  std::vector<UOp> mine, theirs;
  flattenFactors(t.base, mine);
  flattenFactors(d.terms[0].base, theirs);
  for (UOp f : theirs) {
    auto at = std::find(mine.begin(), mine.end(), f);
    if (at == mine.end()) return std::nullopt;
    mine.erase(at);
  }
  return Term{buildProduct(graph, std::move(mine)), t.coef / d.terms[0].coef};
}

// n = divisor * multiples + rest
Split splitSymbolic(Graph& graph, const Linear& n, UOp divisor) {
  Split split;
  for (const Term& t : n.terms) {
    std::optional<Term> q = divideExactly(graph, t, divisor);
    if (!q)
      split.rest.add(t.base, t.coef);
    else if (q->base)
      split.multiples.add(q->base, q->coef);
    else
      split.multiples.add(q->coef);
  }
  split.rest.add(n.constant);
  return split;
}

// True when 0 <= form < limit is certain.
bool staysBelow(const IndexMath& math, const Linear& form, UOp limit) {
  if (math.bounds(form).min < 0) return false;
  Linear room = math.linear(limit);  // limit - form > 0
  room.add(form, -1);
  if (math.bounds(room).min > 0) return true;
  room = Linear();
  room.add(form, 1);
  room.add(math.linear(limit), -1);
  return math.alwaysNegative(room);
}

}  // namespace

std::optional<Linear> IndexMath::floorDiv(const Linear& n, UOp divisor) const {
  Interval d = bounds(divisor);
  if (d.isConst() && d.min > 0) return floorDiv(n, d.min);
  if (n.overflow || d.min <= 0) return std::nullopt;
  auto [whole, rest] = splitSymbolic(graph, n, divisor);
  if (staysBelow(*this, rest, divisor)) return whole;
  if (whole.isConst() && whole.constant == 0) return std::nullopt;
  UOp numerator = build(graph, rest);
  if (!numerator || whole.overflow) return std::nullopt;
  whole.add(graph.alu(Op::Floordiv, {numerator, divisor}), 1);
  return whole;
}

std::optional<Linear> IndexMath::floorMod(const Linear& n, UOp divisor) const {
  Interval d = bounds(divisor);
  if (d.isConst() && d.min > 0) return floorMod(n, d.min);
  if (n.overflow || d.min <= 0) return std::nullopt;
  auto [whole, rest] = splitSymbolic(graph, n, divisor);
  if (staysBelow(*this, rest, divisor)) return rest;
  if (whole.isConst() && whole.constant == 0) return std::nullopt;
  UOp numerator = build(graph, rest);
  return numerator ? std::optional(single(graph.alu(Op::Floormod, {numerator, divisor}))) : std::nullopt;
}

namespace {

// How much work a form is: terms, and divisions among them.
size_t cost(const Linear& form) {
  size_t sum = 0;
  for (const Term& t : form.terms) {
    bool division = t.base.op() == Op::Floordiv || t.base.op() == Op::Floormod;
    sum += division ? 3 : 1;
  }
  return sum;
}

// b % d + (b // d) * d = b for any divisor that is not 0; `t` is a term of `form`.
bool joinSymbolic(Graph& graph, Linear& form, const Term& t) {
  if (t.base.op() != Op::Floormod || t.base.src(1).isConst()) return false;
  UOp b = t.base.src(0), d = t.base.src(1);
  if (d.bounds().min <= 0) return false;
  std::vector<UOp> factors{graph.alu(Op::Floordiv, {b, d})};
  flattenFactors(d, factors);
  Linear whole;
  addProduct(graph, whole, std::move(factors), t.coef);
  if (whole.overflow || whole.terms.size() != 1 || form.coefOf(whole.terms[0].base) != whole.terms[0].coef) return false;
  form.add(t.base, -t.coef);
  form.add(whole, -1);
  form.add(linearOf(b), t.coef);
  return true;
}

}  // namespace

void IndexMath::recombine(Linear& form) const {
  for (bool changed = true; changed && !form.overflow;) {
    changed = false;
    for (size_t i = 0; i < form.terms.size() && !changed; ++i) {
      Term t = form.terms[i];
      if (form.terms.size() < 2) break;
      if (joinSymbolic(graph, form, t)) {
        changed = true;
        break;
      }
      if (!isConstDivisor(t.base, Op::Floormod)) continue;
      int64_t d = t.base.src(1).constInt(), scale = 0;
      if (__builtin_mul_overflow(t.coef, d, &scale)) continue;
      Linear whole = linear(t.base.src(0)), quotient = floorDiv(whole, d);
      Linear joined = form;  // (b % d) * m = b * m - (b // d) * (d * m)
      joined.add(t.base, -t.coef);
      joined.add(whole, t.coef);
      joined.add(quotient, -scale);
      // A quotient that stays would make the sum's interval wider than that of the remainder.
      bool cancels = std::ranges::none_of(quotient.terms, [&](const Term& q) { return joined.coefOf(q.base) != 0; });
      if (!joined.overflow && cancels && cost(joined) < cost(form)) {
        form = std::move(joined);
        changed = true;
        break;
      }
      // (b % d) * m + ((b // d) % e) * (d * m) = (b % (d * e)) * m
      UOp q = build(graph, quotient);
      for (const Term& o : form.terms) {
        if (o.coef != scale || !isConstDivisor(o.base, Op::Floormod) || o.base.src(0) != q) continue;
        int64_t product = 0;
        if (__builtin_mul_overflow(d, o.base.src(1).constInt(), &product)) continue;
        UOp outer = o.base;
        joined = form;
        joined.add(t.base, -t.coef);
        joined.add(outer, -scale);
        joined.add(floorMod(whole, product), t.coef);
        if (joined.overflow) continue;
        form = std::move(joined);
        changed = true;
        break;
      }
    }
  }
}

}  // namespace svod
