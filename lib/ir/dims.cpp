// Arithmetic on dims in a normal form: a sum of products of atoms with integer factors, sorted by structure,
// the constant last. Dims that are equal as polynomials are the same node, so shapes compare by identity.
// Indices over loop ranges stay as written: their form is the business of symbolic simplification.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/shape.h"

namespace svod {

namespace {

struct Term {
  std::vector<UOp> atoms;  // sorted by structure; empty for the constant
  int64_t factor;
};
using Polynomial = std::vector<Term>;

constexpr size_t kMaxTerms = 64;  // larger results stay as they were written

bool atomsLess(const Term& a, const Term& b) {
  if (a.atoms.empty() != b.atoms.empty()) return b.atoms.empty();
  return std::lexicographical_compare(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(),
                                      structuralLess);
}

int64_t wrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

void normalize(Polynomial& p) {
  std::sort(p.begin(), p.end(), atomsLess);
  Polynomial merged;
  for (Term& t : p) {
    if (!merged.empty() && merged.back().atoms == t.atoms) {
      merged.back().factor = wrapAdd(merged.back().factor, t.factor);
    } else {
      merged.push_back(std::move(t));
    }
  }
  std::erase_if(merged, [](const Term& t) { return t.factor == 0; });
  p = std::move(merged);
}

Polynomial sum(Polynomial a, const Polynomial& b, int64_t factor) {
  for (const Term& t : b) a.push_back({t.atoms, wrapMul(t.factor, factor)});
  normalize(a);
  return a;
}

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  for (const Term& x : a)
    for (const Term& y : b) {
      Term t{x.atoms, wrapMul(x.factor, y.factor)};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::sort(t.atoms.begin(), t.atoms.end(), structuralLess);
      out.push_back(std::move(t));
    }
  normalize(out);
  return out;
}

bool isSum(UOp dim) { return dim.op() == Op::Add || dim.op() == Op::Sub; }

// Reads the normal form, which nests to the left. Anything else is an atom, so this takes time linear in the
// size.
Polynomial toPolynomial(UOp dim) {
  if (dim.isConst()) return dim.isConst(0) ? Polynomial{} : Polynomial{{{}, dim.constInt()}};
  Polynomial atom{{{dim}, 1}};
  if (dim.dtype() != DType::Index) return atom;
  if (isSum(dim) && !isSum(dim.src(1)))
    return sum(toPolynomial(dim.src(0)), toPolynomial(dim.src(1)), dim.op() == Op::Add ? 1 : -1);
  if (dim.op() == Op::Mul && !isSum(dim.src(1)) && dim.src(1).op() != Op::Mul) {
    Polynomial left = toPolynomial(dim.src(0)), right = toPolynomial(dim.src(1));
    if (left.size() * right.size() <= kMaxTerms) return product(left, right);
  }
  return atom;
}

UOp toDim(Graph& g, const Polynomial& p) {
  UOp total;
  for (const Term& t : p) {
    UOp value;
    for (UOp atom : t.atoms) value = value ? g.alu(Op::Mul, {value, atom}) : atom;
    if (!value) {
      value = g.index(t.factor);
    } else if (t.factor != 1) {
      value = g.alu(Op::Mul, {value, g.index(t.factor)});
    }
    total = total ? g.alu(Op::Add, {total, value}) : value;
  }
  return total ? total : g.index(0);
}

// p / d when every term divides without remainder.
std::optional<Polynomial> divideExactly(Polynomial p, const Polynomial& d) {
  if (d.size() != 1) return std::nullopt;
  for (Term& t : p) {
    if (d[0].factor == -1 || t.factor % d[0].factor != 0) return std::nullopt;
    t.factor /= d[0].factor;
    for (UOp atom : d[0].atoms) {
      auto at = std::find(t.atoms.begin(), t.atoms.end(), atom);
      if (at == t.atoms.end()) return std::nullopt;
      t.atoms.erase(at);
    }
  }
  return p;
}

bool areIndices(UOp a, UOp b) { return !a.ranges().empty() || !b.ranges().empty(); }

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

UOp addDims(Graph& g, UOp a, UOp b) {
  if (a.isConst() && b.isConst()) return g.index(wrapAdd(a.constInt(), b.constInt()));
  if (a.isConst(0)) return b;
  if (b.isConst(0)) return a;
  Polynomial p = sum(toPolynomial(a), toPolynomial(b), 1);
  return p.size() <= kMaxTerms ? toDim(g, p) : g.alu(Op::Add, {a, b});
}

UOp subDims(Graph& g, UOp a, UOp b) {
  if (a.isConst() && b.isConst()) return g.index(wrapAdd(a.constInt(), wrapMul(b.constInt(), -1)));
  if (a == b) return g.index(0);
  if (b.isConst(0)) return a;
  Polynomial p = sum(toPolynomial(a), toPolynomial(b), -1);
  return p.size() <= kMaxTerms ? toDim(g, p) : g.alu(Op::Sub, {a, b});
}

UOp mulDims(Graph& g, UOp a, UOp b) {
  if (a.isConst() && b.isConst()) return g.index(wrapMul(a.constInt(), b.constInt()));
  if (a.isConst(0) || b.isConst(0)) return g.index(0);
  if (a.isConst(1)) return b;
  if (b.isConst(1)) return a;
  Polynomial x = toPolynomial(a), y = toPolynomial(b);
  return x.size() * y.size() <= kMaxTerms ? toDim(g, product(x, y)) : g.alu(Op::Mul, {a, b});
}

UOp floordivDims(Graph& g, UOp a, UOp b) {
  if (b.isConst(1)) return a;
  if (b.isConst() && b.constInt() > 1 && a.isConst()) return g.index(floorDivide(a.constInt(), b.constInt()));
  if (a == b && a.bounds().min > 0) return g.index(1);
  if (b.bounds().min > 0)
    if (auto exact = divideExactly(toPolynomial(a), toPolynomial(b))) return toDim(g, *exact);
  return g.alu(Op::Floordiv, {a, b});
}

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
