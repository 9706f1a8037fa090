// Arithmetic on dims in a normal form: a sum of products of atoms with integer factors, sorted by structure,
// the constant last. Dims that are equal as polynomials are the same node, so shapes compare by identity.
// Indices over loop ranges stay as written: their form is the business of symbolic simplification.
#include <algorithm>
#include <numeric>

#include "ir/polynomial.h"
#include "ir/shape.h"

namespace svod {

namespace {

bool areIndices(UOp a, UOp b) { return !a.ranges().empty() || !b.ranges().empty(); }

int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

UOp addDims(Graph& g, UOp a, UOp b) {
  if (a.isConst() && b.isConst()) return g.index(wrapAdd(a.constInt(), b.constInt()));
  if (a.isConst(0)) return b;
  if (b.isConst(0)) return a;
  Polynomial p = sum(toPolynomial(g, a), toPolynomial(g, b));
  return p.size() <= kMaxSumTerms ? toDim(g, p) : g.alu(Op::Add, {a, b});
}

UOp subDims(Graph& g, UOp a, UOp b) {
  if (a.isConst() && b.isConst()) return g.index(wrapAdd(a.constInt(), wrapMul(b.constInt(), -1)));
  if (a == b) return g.index(0);
  if (b.isConst(0)) return a;
  Polynomial p = sum(toPolynomial(g, a), toPolynomial(g, b), -1);
  return p.size() <= kMaxSumTerms ? toDim(g, p) : g.alu(Op::Sub, {a, b});
}

UOp mulDims(Graph& g, UOp a, UOp b) {
  if (a.isConst() && b.isConst()) return g.index(wrapMul(a.constInt(), b.constInt()));
  if (a.isConst(0) || b.isConst(0)) return g.index(0);
  if (a.isConst(1)) return b;
  if (b.isConst(1)) return a;
  Polynomial x = toPolynomial(g, a), y = toPolynomial(g, b);
  return hasShortProduct(x, y) ? toDim(g, product(x, y)) : g.alu(Op::Mul, {a, b});
}

// --- Least and greatest

namespace {

constexpr size_t kMaxChoices = 8;

using Choices = std::vector<Polynomial>;  // Min or Max of these

// f*min(A, B) + C = min(f*A + C, f*B + C) for f > 0
bool addChoices(Graph& g, Op op, const Polynomial& p, Choices& all) {
  for (const DimTerm& t : p) {
    if (t.atoms.size() != 1 || t.atoms[0].op() != op || t.factor <= 0) continue;
    const Polynomial others = sum(p, {t}, -1);
    return addChoices(g, op, sum(others, toPolynomial(g, t.atoms[0].src(0)), t.factor), all) &&
           addChoices(g, op, sum(others, toPolynomial(g, t.atoms[0].src(1)), t.factor), all);
  }
  if (all.size() >= kMaxChoices || !boundsOf(p).fits()) return false;
  all.push_back(p);
  return true;
}

// Leaves out what another choice is never worse than.
void dropDominated(Graph& g, Op op, Choices& all) {
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < all.size(); ++j) {
      if (i == j) continue;
      const WideInterval apart =
          boundsOfDifference(g, op == Op::Min ? sum(all[i], all[j], -1) : sum(all[j], all[i], -1));
      if (apart.min < 0 || (apart.max == 0 && i < j)) continue;  // of equal ones, the first stays
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i--));
      break;
    }
}

// min(A + C, B + C) = min(A, B) + C: terms of all choices, and the least constant of those that are no numbers.
Polynomial takeCommon(Choices& all) {
  Polynomial common;
  for (const DimTerm& t : all[0])
    if (!t.atoms.empty() &&
        std::ranges::all_of(all, [&](const Polynomial& p) { return std::ranges::find(p, t) != p.end(); }))
      common.push_back(t);
  std::optional<int64_t> constant;
  for (Polynomial& p : all) {
    p = sum(std::move(p), common, -1);
    if (!isNumber(p)) constant = std::min(constant.value_or(INT64_MAX), constantOf(p));
  }
  for (Polynomial& p : all) p = sum(std::move(p), numberPolynomial(constant.value_or(0)), -1);
  return withConstant(std::move(common), constant.value_or(0));
}

// min(g*A, g*B) = g*min(A, B)
int64_t takeContent(Choices& all) {
  int64_t content = 0;
  for (const Polynomial& p : all) content = std::gcd(content, std::gcd(contentOf(p), constantOf(p)));
  if (content <= 1) return 1;
  for (Polynomial& p : all) p = scaled(std::move(p), 1, content);
  return content;
}

UOp chosenDim(Graph& g, Op op, UOp a, UOp b) {
  if (a == b) return a;
  Choices all;
  if (!addChoices(g, op, toPolynomial(g, a), all) || !addChoices(g, op, toPolynomial(g, b), all))
    return g.alu(op, {a, b});
  dropDominated(g, op, all);
  if (all.size() == 1) return toDim(g, all[0]);
  const Polynomial common = takeCommon(all);
  const int64_t content = takeContent(all);
  std::vector<UOp> dims;
  for (const Polynomial& p : all) dims.push_back(toDim(g, p));
  std::sort(dims.begin(), dims.end(),
            [](UOp x, UOp y) { return x.isConst() != y.isConst() ? y.isConst() : structuralLess(x, y); });
  UOp result = dims[0];
  for (size_t i = 1; i < dims.size(); ++i) result = g.alu(op, {result, dims[i]});
  return toDim(g, sum(common, atomPolynomial(result), content));
}

}  // namespace

UOp minDims(Graph& g, UOp a, UOp b) {
  if (a.bounds().max <= b.bounds().min) return a;
  return b.bounds().max <= a.bounds().min ? b : chosenDim(g, Op::Min, a, b);
}

UOp maxDims(Graph& g, UOp a, UOp b) {
  if (a.bounds().min >= b.bounds().max) return a;
  return b.bounds().min >= a.bounds().max ? b : chosenDim(g, Op::Max, a, b);
}

// --- Indices

UOp addIndices(Graph& g, UOp a, UOp b) {
  bool isTrivial = a.isConst(0) || b.isConst(0);
  return areIndices(a, b) && !isTrivial ? g.alu(Op::Add, {a, b}) : addDims(g, a, b);
}

UOp subIndices(Graph& g, UOp a, UOp b) {
  bool isTrivial = a == b || b.isConst(0);
  return areIndices(a, b) && !isTrivial ? g.alu(Op::Sub, {a, b}) : subDims(g, a, b);
}

UOp mulIndices(Graph& g, UOp a, UOp b) {
  bool isTrivial = a.isConst(0) || b.isConst(0) || a.isConst(1) || b.isConst(1);
  if (!areIndices(a, b) || isTrivial) return mulDims(g, a, b);
  return a.isConst() ? g.alu(Op::Mul, {b, a}) : g.alu(Op::Mul, {a, b});
}

UOp numel(Graph& g, std::span<const UOp> dims) {
  UOp product = g.index(1);
  for (UOp d : dims) product = mulDims(g, product, d);
  return product;
}

}  // namespace svod
