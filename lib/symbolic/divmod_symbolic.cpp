// Division by what is not constant, signs of forms over ranges with such ends, and joining quotients with remainders.
#include <algorithm>

#include "symbolic/divmod.h"

namespace svod {

using namespace detail;

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
// coefficient is positive and 0 when it is negative. Nothing when a coefficient's sign is unknown. Where a range has no
// values there is none of the form either.
std::optional<Linear> withoutSymbolicRanges(Graph& graph, const Linear& form) {
  Linear result;
  result.add(form.constant);
  for (const Term& t : form.terms) {
    std::vector<UOp> factors;
    flattenFactors(t.base, factors);
    auto range =
        std::find_if(factors.begin(), factors.end(), [](UOp f) { return f.op() == Op::Range && !f.src(0).isConst(); });
    if (range == factors.end()) {
      result.add(t.base, t.coef);
      continue;
    }
    UOp end = (*range).src(0);
    factors.erase(range);
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

int64_t divisorOf(UOp base) {
  return base.op() == Op::Floordiv && base.src(1).isConst() ? std::max<int64_t>(base.src(1).constInt(), 1) : 1;
}

struct Quotient {
  Linear whole;
  int64_t divisor;  // 1: it is none
};

// What a term of `form` is a quotient of: of another term, a quotient of the same number by a divisor of its divisor,
// or of the number.
Quotient quotientOf(const Linear& form, UOp base) {
  const int64_t divisor = divisorOf(base);
  if (divisor == 1) return {{}, 1};
  for (const Term& t : form.terms) {
    const int64_t finer = divisorOf(t.base);
    if (finer == 1 || finer == divisor || divisor % finer != 0 || t.base.src(0) != base.src(0)) continue;
    Linear whole;
    whole.add(t.base, 1);
    return {std::move(whole), divisor / finer};
  }
  return {linearOf(base.src(0)), divisor};
}

// An upper bound of `form` without quotients by constants that divide their coefficients: d * (x // d) is x less 0 to
// d - 1.
Linear withoutQuotients(const Linear& form) {
  Linear result;
  result.add(form.constant);
  for (const Term& t : form.terms) {
    const auto [whole, divisor] = quotientOf(form, t.base);
    if (divisor == 1 || t.coef % divisor != 0) {
      result.add(t.base, t.coef);
      continue;
    }
    result.add(whole, t.coef / divisor);
    if (t.coef < 0) result.add((divisor - 1) * (-(t.coef / divisor)));
  }
  return result;
}

}  // namespace

bool IndexMath::alwaysNegative(const Linear& form) const {
  if (form.overflow) return false;
  if (bounds(form).max < 0) return true;
  std::optional<Linear> greatest = withoutSymbolicRanges(graph, form);
  if (!greatest || greatest->overflow) return false;
  if (bounds(*greatest).max < 0) return true;
  const Linear whole = withoutQuotients(*greatest);
  return !whole.overflow && bounds(whole).max < 0;
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
SplitSum splitSymbolic(Graph& graph, const Linear& n, UOp divisor) {
  SplitSum split;
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
  if (whole.overflow || whole.terms.size() != 1 || form.coefOf(whole.terms[0].base) != whole.terms[0].coef)
    return false;
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
