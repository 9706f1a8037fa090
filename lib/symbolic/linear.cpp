#include "symbolic/linear.h"

#include <algorithm>
#include <numeric>

namespace svod {

void Linear::add(UOp base, int64_t coef) {
  if (coef == 0) return;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].base != base) continue;
    overflow |= __builtin_add_overflow(terms[i].coef, coef, &terms[i].coef);
    if (terms[i].coef == 0) terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  terms.push_back({base, coef});
}

void Linear::add(int64_t value) { overflow |= __builtin_add_overflow(constant, value, &constant); }

void Linear::add(const Linear& other, int64_t factor) {
  overflow |= other.overflow;
  int64_t scaled = 0;
  for (const Term& t : other.terms) {
    overflow |= __builtin_mul_overflow(t.coef, factor, &scaled);
    add(t.base, scaled);
  }
  overflow |= __builtin_mul_overflow(other.constant, factor, &scaled);
  add(scaled);
}

int64_t Linear::coefOf(UOp base) const {
  for (const Term& t : terms)
    if (t.base == base) return t.coef;
  return 0;
}

namespace {

// The factor when `n` is a constant multiple of one source, which `inner` receives; 0 otherwise.
int64_t constantFactor(UOp n, UOp& inner) {
  if (n.op() == Op::Neg) return inner = n.src(0), -1;
  if (n.op() == Op::Mul && n.src(1).isConst()) return inner = n.src(0), n.src(1).constInt();
  if (n.op() == Op::Mul && n.src(0).isConst()) return inner = n.src(1), n.src(0).constInt();
  if (n.op() == Op::Shl && n.src(1).isConst() && n.src(1).constInt() >= 0 && n.src(1).constInt() < 62)
    return inner = n.src(0), int64_t{1} << n.src(1).constInt();
  return 0;
}

int factorCount(UOp base) {
  int count = 1;
  for (; base.op() == Op::Mul; base = base.src(0)) ++count;
  return count;
}

int64_t clampToInt(__int128 v) {
  if (v > INT64_MAX) return INT64_MAX;
  return v < INT64_MIN ? INT64_MIN : static_cast<int64_t>(v);
}

bool termLess(const Term& a, const Term& b) {
  auto magnitude = [](int64_t v) { return v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v); };
  if (magnitude(a.coef) != magnitude(b.coef)) return magnitude(a.coef) > magnitude(b.coef);
  if (int x = factorCount(a.base), y = factorCount(b.base); x != y) return x > y;
  return structuralLess(a.base, b.base);
}

}  // namespace

Linear linearOf(UOp x) {
  Linear form;
  std::vector<Term> pending{{x, 1}};
  while (!pending.empty()) {
    auto [n, coef] = pending.back();
    pending.pop_back();
    UOp inner;
    int64_t scaled = 0;
    if (n.bounds().isConst()) {
      form.overflow |= __builtin_mul_overflow(n.bounds().min, coef, &scaled);
      form.add(scaled);
    } else if (n.op() == Op::Add || n.op() == Op::Sub) {
      form.overflow |= n.op() == Op::Sub && coef == INT64_MIN;
      pending.push_back({n.src(1), n.op() == Op::Sub ? static_cast<int64_t>(0 - static_cast<uint64_t>(coef)) : coef});
      pending.push_back({n.src(0), coef});
    } else if (int64_t factor = constantFactor(n, inner); factor != 0) {
      form.overflow |= __builtin_mul_overflow(coef, factor, &scaled);
      pending.push_back({inner, scaled});
    } else {
      form.add(n, coef);
    }
  }
  return form;
}

UOp build(Graph& graph, const Linear& form) {
  if (form.overflow) return {};
  if (form.terms.size() == 1 && form.constant == 0 && form.terms[0].coef == 1) return form.terms[0].base;
  std::vector<Term> sorted = form.terms;
  std::sort(sorted.begin(), sorted.end(), termLess);
  UOp sum;
  for (const Term& t : sorted) {
    UOp value = t.coef == 1 ? t.base : graph.alu(Op::Mul, {t.base, graph.index(t.coef)});
    sum = sum ? graph.alu(Op::Add, {sum, value}) : value;
  }
  if (!sum) return graph.index(form.constant);
  return form.constant == 0 ? sum : graph.alu(Op::Add, {sum, graph.index(form.constant)});
}

void flattenFactors(UOp n, std::vector<UOp>& factors) {
  std::vector<UOp> pending{n};
  while (!pending.empty()) {
    n = pending.back();
    pending.pop_back();
    if (n.op() == Op::Mul)
      pending.push_back(n.src(1)), pending.push_back(n.src(0));
    else
      factors.push_back(n);
  }
}

UOp buildProduct(Graph& graph, std::vector<UOp> factors) {
  std::sort(factors.begin(), factors.end(), structuralLess);
  UOp product;
  for (UOp f : factors) product = product ? graph.alu(Op::Mul, {product, f}) : f;
  return product;
}

Interval addIntervals(Interval a, Interval b) {
  return {clampToInt(static_cast<__int128>(a.min) + b.min), clampToInt(static_cast<__int128>(a.max) + b.max)};
}

Interval scaleInterval(Interval a, int64_t factor) {
  Interval scaled{clampToInt(static_cast<__int128>(a.min) * factor), clampToInt(static_cast<__int128>(a.max) * factor)};
  if (factor < 0) std::swap(scaled.min, scaled.max);
  return scaled;
}

Interval intersect(Interval a, Interval b) { return {std::max(a.min, b.min), std::min(a.max, b.max)}; }

Interval boundsOf(const Linear& form) {
  Interval sum{form.constant, form.constant};
  for (const Term& t : form.terms) sum = addIntervals(sum, scaleInterval(t.base.bounds(), t.coef));
  return form.overflow ? Interval{} : sum;
}

int64_t gcdOfTerms(const Linear& form) {
  int64_t g = 0;
  for (const Term& t : form.terms) g = std::gcd(g, t.coef);
  return g;
}

}  // namespace svod
