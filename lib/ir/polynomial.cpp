#include "ir/polynomial.h"

#include <algorithm>
#include <numeric>

#include "ir/polynomial_parts.h"
#include "ir/shape.h"

namespace svod {

using namespace detail;

namespace {

bool termLess(const DimTerm& a, const DimTerm& b) {
  if (a.atoms.empty() != b.atoms.empty()) return b.atoms.empty();
  return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), structuralLess);
}

int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

DimTerm product(const DimTerm& x, const DimTerm& y) {
  DimTerm t{x.atoms, wrapMul(x.factor, y.factor)};
  t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
  std::sort(t.atoms.begin(), t.atoms.end(), structuralLess);
  return t;
}

}  // namespace

void detail::normalize(Polynomial& p) {
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

}  // namespace

bool detail::isModest(const Polynomial& p) {
  return std::ranges::all_of(p, [](const DimTerm& t) { return t.factor < INT32_MAX && t.factor > INT32_MIN; });
}

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

}  // namespace svod
