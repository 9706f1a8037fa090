#include "symbolic/facts.h"

#include <algorithm>

#include "ir/bounds.h"

namespace svod {

namespace {

constexpr int kMaxDepth = 48;

bool hasIntBounds(UOp n) { return (isInt(n.dtype()) && n.dtype() != DType::U64) || n.dtype() == DType::Bool; }

// Bounds of x from bounds of coef * x.
Interval divideInterval(Interval product, int64_t coef) {
  if (coef == INT64_MIN) return {};
  bool flip = coef < 0;
  int64_t c = flip ? -coef : coef;
  Interval q{product.min == INT64_MIN ? INT64_MIN : -floorDivide(-product.min, c),
             product.max == INT64_MAX ? INT64_MAX : floorDivide(product.max, c)};
  if (!flip) return q;
  return {q.max == INT64_MAX ? INT64_MIN : -q.max, q.min == INT64_MIN ? INT64_MAX : -q.min};
}

}  // namespace

void Facts::assume(UOp gate) {
  std::vector<UOp> pending{gate};
  while (!pending.empty()) {
    UOp clause = pending.back();
    pending.pop_back();
    if (clause.op() == Op::And && clause.dtype() == DType::Bool) {
      pending.push_back(clause.src(1));
      pending.push_back(clause.src(0));
    } else {
      assumeClause(clause);
    }
  }
  memo_.clear();
  propagate();
}

void Facts::assumeClause(UOp clause) {
  learn(clause, {1, 1});
  bool negated = clause.op() == Op::Not;
  UOp c = negated ? clause.src(0) : clause;
  if (negated) learn(c, {0, 0});
  if (!has(c.op(), Comparison) || !hasIntBounds(c.src(0))) return;
  bool index = c.src(0).dtype() == DType::Index;
  if (!index && !c.src(0).isConst() && !c.src(1).isConst()) return;
  Linear difference;
  auto add = [&](UOp n, int64_t sign) {
    if (index)
      difference.add(linearOf(n), sign);
    else if (n.isConst())
      n.constInt() == INT64_MIN ? void(difference.overflow = true) : difference.add(sign * n.constInt());
    else
      difference.add(n, sign);
  };
  add(c.src(0), 1);
  add(c.src(1), -1);
  if (difference.overflow || difference.terms.empty()) return;
  switch (c.op()) {
    case Op::Lt: return constrain(difference, negated ? Interval{0, INT64_MAX} : Interval{INT64_MIN, -1});
    case Op::Le: return constrain(difference, negated ? Interval{1, INT64_MAX} : Interval{INT64_MIN, 0});
    case Op::Eq:
    case Op::Ne: break;
    default: return;
  }
  if ((c.op() == Op::Eq) != negated) return constrain(difference, {0, 0});
  Interval now = boundsOf(difference);  // a value that may not be taken trims an end of the interval
  if (now.min == 0) constrain(difference, {1, INT64_MAX});
  if (now.max == 0) constrain(difference, {INT64_MIN, -1});
}

// Notes that form lies in bounds, where the numbers include form's constant.
void Facts::constrain(Linear form, Interval bounds) {
  int64_t k = form.constant, g = gcdOfTerms(form);
  form.constant = 0;
  if (k == INT64_MIN || g <= 0) return;
  if (bounds.min != INT64_MIN && __builtin_sub_overflow(bounds.min, k, &bounds.min)) return;
  if (bounds.max != INT64_MAX && __builtin_sub_overflow(bounds.max, k, &bounds.max)) return;
  UOp first = form.terms[0].base;
  for (const Term& t : form.terms)
    if (structuralLess(t.base, first)) first = t.base;
  int64_t divisor = form.coefOf(first) < 0 ? -g : g;
  for (Term& t : form.terms) t.coef /= divisor;
  bounds = divideInterval(bounds, divisor);
  if (form.terms.size() == 1 && form.terms[0].coef == 1) return learn(form.terms[0].base, bounds);
  constraints_.push_back({std::move(form), bounds});
}

void Facts::learn(UOp n, Interval bounds) {
  auto [it, fresh] = known_.try_emplace(n.id(), n.bounds());
  Interval before = it->second;
  it->second = intersect(before, bounds);
  if (it->second.min > it->second.max) {
    contradictory_ = true;
    it->second = before;
    return;
  }
  if (it->second == before && !fresh) return;
  // What is known of a quotient holds for its numerator.
  if (n.op() == Op::Floordiv && n.src(1).isConst() && n.src(1).constInt() > 0 && n.dtype() == DType::Index) {
    int64_t d = n.src(1).constInt();
    Interval numerator{INT64_MIN, INT64_MAX};
    int64_t low = 0, high = 0;
    if (!__builtin_mul_overflow(it->second.min, d, &low)) numerator.min = low;
    if (!__builtin_mul_overflow(it->second.max, d, &high) && !__builtin_add_overflow(high, d - 1, &high))
      numerator.max = high;
    Linear form = linearOf(n.src(0));
    if (!form.overflow && !form.terms.empty()) constrain(std::move(form), numerator);
  }
}

// Bounds of every term from every constraint: coef * term <= max - (least of the others).
void Facts::propagate() {
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < constraints_.size(); ++i) {
      Constraint c = constraints_[i];
      for (const Term& t : c.form.terms) {
        Interval others{0, 0};
        for (const Term& o : c.form.terms)
          if (o.base != t.base) others = addIntervals(others, scaleInterval(of(o.base), o.coef));
        Interval product;
        if (others.max != INT64_MAX && c.bounds.min != INT64_MIN &&
            __builtin_sub_overflow(c.bounds.min, others.max, &product.min))
          product.min = INT64_MIN;
        if (others.min != INT64_MIN && c.bounds.max != INT64_MAX &&
            __builtin_sub_overflow(c.bounds.max, others.min, &product.max))
          product.max = INT64_MAX;
        learn(t.base, divideInterval(product, t.coef));
        memo_.clear();
      }
    }
}

Interval Facts::of(UOp n) const { return compute(n, 0); }

Interval Facts::compute(UOp n, int depth) const {
  if (!hasIntBounds(n) || n.bounds().isConst() || depth > kMaxDepth) return n.bounds();
  if (auto it = memo_.find(n.id()); it != memo_.end()) return it->second;
  Interval result = n.bounds();
  if (auto it = known_.find(n.id()); it != known_.end()) result = intersect(result, it->second);
  bool arithmetic = isElementwise(n.op()) && !isFloat(n.src(0).dtype()) && n.srcCount() <= 3;
  if (arithmetic) {
    Interval in[3];
    bool tighter = false;
    for (size_t i = 0; i < n.srcCount(); ++i) {
      in[i] = compute(n.src(i), depth + 1);
      tighter |= in[i] != n.src(i).bounds();
    }
    if (tighter)
      result = intersect(
          result, computeBounds(n.op(), n.dtype(), n.src(), std::span<const Interval>(in, n.srcCount()), n.arg()));
  }
  if (n.dtype() == DType::Index && (n.op() == Op::Add || n.op() == Op::Sub || n.op() == Op::Mul) &&
      !constraints_.empty()) {
    Linear form = linearOf(n);
    bool split = form.terms.size() > 1 || (form.terms.size() == 1 && form.terms[0].base != n);
    if (!form.overflow && split) result = intersect(result, of(form));
  }
  if (result.min > result.max) result = n.bounds();  // contradictory: any answer is right, keep a consistent one
  memo_[n.id()] = result;
  return result;
}

Interval Facts::of(const Linear& form) const {
  if (form.overflow) return {};
  Interval result{form.constant, form.constant};
  for (const Term& t : form.terms) result = addIntervals(result, scaleInterval(of(t.base), t.coef));
  for (const Constraint& c : constraints_) {
    int64_t mine = form.coefOf(c.form.terms[0].base), theirs = c.form.terms[0].coef;
    // Only parts of `form` are asked about again: a constraint on something built from `form` would go in circles.
    bool part = std::ranges::all_of(c.form.terms, [&](const Term& t) { return form.coefOf(t.base) != 0; });
    if (!part || mine % theirs != 0) continue;
    Linear rest = form;
    rest.add(c.form, -(mine / theirs));
    if (rest.overflow) continue;
    Interval sum{rest.constant, rest.constant};
    for (const Term& t : rest.terms) sum = addIntervals(sum, scaleInterval(of(t.base), t.coef));
    Interval scaled = scaleInterval(c.bounds, mine / theirs);
    Interval other = addIntervals(sum, scaled);
    if (other.min <= other.max) result = intersect(result, other);
  }
  if (result.min > result.max) return boundsOf(form);
  return result;
}

}  // namespace svod
