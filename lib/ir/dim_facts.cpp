// Decided in this order, in a graph that is dropped afterwards: the normal form; divisibility of the factors; bounds,
// also those in which quotients are replaced, d * (s // d) = s - r with 0 <= r < d; all points where there are few;
// cases: a minimum is one of its operands, and v = L*k + r for a variable v in numerators over divisors of L.
#include "ir/dim_facts.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ir/dim_facts_parts.h"
#include "ir/evaluate.h"
#include "ir/polynomial.h"
#include "ir/shape.h"
#include "support/integers.h"

namespace svod {

using namespace detail;

namespace {

constexpr int64_t kMaxResidues = 128;
constexpr int kMaxCases = 1024;

struct NormalRow {
  Op op;
  UOp (*make)(Graph&, UOp, UOp);
};
constexpr NormalRow kNormal[] = {
    {Op::Add, addDims},           {Op::Sub, subDims}, {Op::Mul, mulDims}, {Op::Floordiv, floordivDims},
    {Op::Floormod, floormodDims}, {Op::Min, minDims}, {Op::Max, maxDims}};

using Replacements = std::unordered_map<uint32_t, UOp>;

/// The dim in normal form, with nodes replaced.
UOp rebuilt(Graph& g, UOp dim, const Replacements& by) {
  return transform(g, dim, [&](UOp u, std::span<const UOp> src) {
    if (auto at = by.find(u.id()); at != by.end()) return at->second;
    if (u.dtype() == DType::Index && src.size() == 2)
      for (const NormalRow& row : kNormal)
        if (row.op == u.op()) return row.make(g, src[0], src[1]);
    if (u.op() == Op::Neg && u.dtype() == DType::Index) return subDims(g, g.index(0), src[0]);
    return g.withSrc(u, src);
  });
}

class Decider {
 public:
  explicit Decider(Question question) : question_(question) {}

  Graph& graph() { return g_; }

  Truth decide(UOp dim) {
    dim = rebuilt(g_, dim, {});
    const Truth truth = cases(dim);
    return truth == Truth::Unknown && failsSomewhere(question_, dim) ? Truth::NotAlways : truth;
  }

 private:
  Truth cases(UOp dim) {
    if (--budget_ < 0) return Truth::Unknown;
    if (dim.isConst()) return answerOf(question_, dim.constInt());
    const Polynomial p = toPolynomial(g_, dim);
    Truth truth = byBounds(p);
    if (truth != Truth::Unknown) return truth;
    const std::vector<UOp> leaves = leavesOf(dim);
    if (std::optional<Truth> known = byAllPoints(question_, dim, leaves)) return *known;
    if (UOp choice = choiceIn(dim)) return byChoice(dim, choice);
    return byResidues(dim, leaves);
  }

  Truth byBounds(const Polynomial& p) {
    if (isNumber(p)) return answerOf(question_, constantOf(p));
    const int64_t content = contentOf(p);
    if (question_ == Question::IsZero && content > 1 && constantOf(p) % content != 0) return Truth::Never;
    if (Truth t = within(boundsOf(p), 1); t != Truth::Unknown) return t;
    return withoutQuotients(p);
  }

  // p times a number that is at least `scale`, and scale > 0, lies in `b`.
  Truth within(const WideInterval& b, __int128 scale) const {
    if (!b.fits()) return Truth::Unknown;
    if (question_ == Question::IsZero)
      return b.min > 0 || b.max < 0 ? Truth::Never : b.min > -scale && b.max < scale ? Truth::Always : Truth::Unknown;
    return b.min > -scale ? Truth::Always : b.max < 0 ? Truth::Never : Truth::Unknown;
  }

  UOp quotientIn(const Polynomial& p) const {
    for (const DimTerm& t : p)
      for (UOp atom : t.atoms)
        if (atom.op() == Op::Floordiv && atom.src(1).bounds().min > 0 && std::ranges::count(t.atoms, atom) == 1)
          return atom;
    return UOp();
  }

  // d * (s // d) = s - r. What remains is p times a number that is at least `scale`.
  Truth withoutQuotients(Polynomial p) {
    int64_t scale = 1;
    for (int step = 0; step < 6; ++step) {
      UOp quotient = quotientIn(p);
      if (!quotient) break;
      const Interval by = quotient.src(1).bounds();
      if (__builtin_mul_overflow(scale, by.min, &scale) || !multiplyOut(p, quotient)) break;
      if (Truth t = within(boundsOf(p), scale); t != Truth::Unknown) return t;
    }
    return Truth::Unknown;
  }

  bool multiplyOut(Polynomial& p, UOp quotient) {
    const Polynomial by = toPolynomial(g_, quotient.src(1));
    const UOp rest = fresh(0, quotient.src(1).bounds().max - 1);
    if (!boundsOf(toPolynomial(g_, quotient.src(0))).fits()) return false;
    const Polynomial whole = sum(toPolynomial(g_, quotient.src(0)), atomPolynomial(rest), -1);
    Polynomial next;
    for (DimTerm t : p) {
      auto at = std::ranges::find(t.atoms, quotient);
      const bool isIn = at != t.atoms.end();
      if (isIn) t.atoms.erase(at);
      if (std::ranges::find(t.atoms, quotient) != t.atoms.end()) return false;
      next = sum(std::move(next), product({t}, isIn ? whole : by));
      if (next.size() > kMaxDimTerms) return false;
    }
    p = std::move(next);
    return true;
  }

  // A variable under a name that no model can use.
  UOp fresh(int64_t min, int64_t max) { return g_.variable("\x01" + std::to_string(fresh_++), min, max); }

  UOp choiceIn(UOp dim) const {
    for (UOp u : toposort(dim))
      if ((u.op() == Op::Min || u.op() == Op::Max) && u.dtype() == DType::Index) return u;
    return UOp();
  }

  // min(a, b) is a or b, and max(a, b) the other one. Where one variable decides which, each case has the values of it
  // for which it is so. Else both are tried for all values, so `Never` is proved by both and `NotAlways` by none.
  Truth byChoice(UOp dim, UOp choice) {
    const Op opposite = choice.op() == Op::Min ? Op::Max : Op::Min;
    const UOp other = g_.alu(opposite, {choice.src(0), choice.src(1)});
    Cases cases;
    for (size_t i = 0; i < 2 && budget_ > 0; ++i) {
      const UOp taken = choice.src(i), left = choice.src(1 - i);
      UOp chosen = rebuilt(g_, dim, {{choice.id(), taken}, {other.id(), left}});
      if (const auto values =
              valuesWith(choice.op() == Op::Min ? subDims(g_, left, taken) : subDims(g_, taken, left))) {
        const auto [leaf, low, high] = *values;
        if (low > high) continue;
        chosen = rebuilt(g_, chosen, {{leaf.id(), low == high ? g_.index(low) : fresh(low, high)}});
      }
      cases.add(this->cases(chosen));
      if (!cases.always && !cases.never) return Truth::Unknown;
    }
    if (budget_ <= 0) return Truth::Unknown;
    return cases.all() == Truth::NotAlways ? Truth::Unknown : cases.all();
  }

  struct Values {
    UOp leaf;
    int64_t low, high;
  };

  // The values of a variable with which `dim`, a number and a multiple of it alone, is 0 or more.
  std::optional<Values> valuesWith(UOp dim) {
    const Polynomial p = toPolynomial(g_, dim);
    if (p.empty() || p[0].atoms.size() != 1 || p[0].atoms[0].op() != Op::Var || p.size() > 2) return std::nullopt;
    if (p.size() == 2 && !p[1].atoms.empty()) return std::nullopt;
    const UOp leaf = p[0].atoms[0];
    const int64_t factor = p[0].factor, constant = constantOf(p);
    constexpr int64_t kFarthest = int64_t{1} << 60;
    if (factor == INT64_MIN || constant < -kFarthest || constant > kFarthest) return std::nullopt;
    Values values{leaf, leaf.bounds().min, leaf.bounds().max};
    if (factor > 0)
      values.low = std::max(values.low, -floorDivide(constant, factor));
    else
      values.high = std::min(values.high, floorDivide(constant, -factor));
    return values;
  }

  // The least common multiple of the numbers that divide something with `leaf` in it.
  int64_t periodOf(UOp dim, UOp leaf) const {
    int64_t period = 1;
    for (UOp u : toposort(dim)) {
      if ((u.op() != Op::Floordiv && u.op() != Op::Floormod) || !u.src(1).isConst()) continue;
      const int64_t c = u.src(1).constInt();
      const std::vector<UOp> inside = leavesOf(u.src(0));
      if (c <= 1 || c > kMaxResidues || std::ranges::find(inside, leaf) == inside.end()) continue;
      const int64_t joined = std::lcm(period, c);
      if (joined <= kMaxResidues) period = joined;
    }
    return period;
  }

  Truth byResidues(UOp dim, std::span<const UOp> leaves) {
    UOp leaf;
    int64_t period = 1;
    for (UOp u : leaves) {
      if (u.op() != Op::Var || u.bounds().min < -(int64_t{1} << 60) || u.bounds().max > (int64_t{1} << 60)) continue;
      const int64_t own = periodOf(dim, u);
      if (own > 1 && (period == 1 || own < period)) leaf = u, period = own;
    }
    if (!leaf) return Truth::Unknown;
    Cases cases;
    const Interval b = leaf.bounds();
    for (int64_t r = 0; r < period; ++r) {
      const int64_t low = -floorDivide(r - b.min, period), high = floorDivide(b.max - r, period);
      if (low > high) continue;
      UOp k = low == high ? g_.index(low) : fresh(low, high);
      UOp value = addDims(g_, mulDims(g_, k, g_.index(period)), g_.index(r));
      cases.add(this->cases(rebuilt(g_, dim, {{leaf.id(), value}})));
      if (!cases.always && !cases.never) return cases.all();
    }
    return cases.all();
  }

  Graph g_;
  Question question_;
  int budget_ = kMaxCases, fresh_ = 0;
};

bool areDims(UOp a, UOp b) { return a.dtype() == DType::Index && b.dtype() == DType::Index; }

}  // namespace

Truth equalDims(UOp a, UOp b) {
  if (a == b) return Truth::Always;
  if (a.isConst() && b.isConst()) return a.constInt() == b.constInt() ? Truth::Always : Truth::Never;
  if (a.bounds().max < b.bounds().min || b.bounds().max < a.bounds().min) return Truth::Never;
  if (!areDims(a, b)) return Truth::Unknown;
  Decider decider(Question::IsZero);
  Graph& g = decider.graph();
  return decider.decide(subDims(g, rebuilt(g, g.clone(a), {}), rebuilt(g, g.clone(b), {})));
}

bool alwaysEqual(UOp a, UOp b) {
  return a == b || (!(a.isConst() && b.isConst()) && sameDim(a, b) && equalDims(a, b) == Truth::Always);
}

Truth lessEqualDims(UOp a, UOp b) {
  if (a == b || a.bounds().max <= b.bounds().min) return Truth::Always;
  if (b.bounds().max < a.bounds().min) return Truth::Never;
  if (!areDims(a, b)) return Truth::Unknown;
  Decider decider(Question::IsNotNegative);
  Graph& g = decider.graph();
  return decider.decide(subDims(g, rebuilt(g, g.clone(b), {}), rebuilt(g, g.clone(a), {})));
}

Truth dividesDim(UOp a, UOp b) {
  if (a == b || a.isConst(1) || b.isConst(0)) return Truth::Always;
  if (!areDims(a, b) || a.bounds().min <= 0) return Truth::Unknown;
  Decider decider(Question::IsZero);
  Graph& g = decider.graph();
  return decider.decide(floormodDims(g, rebuilt(g, g.clone(b), {}), rebuilt(g, g.clone(a), {})));
}

Truth equalNumel(std::span<const UOp> a, std::span<const UOp> b) {
  if (std::ranges::equal(a, b)) return Truth::Always;
  Decider decider(Question::IsZero);
  Graph& g = decider.graph();
  auto count = [&](std::span<const UOp> dims) {
    UOp product = g.index(1);
    for (UOp d : dims) product = mulDims(g, product, rebuilt(g, g.clone(d), {}));
    return product;
  };
  return decider.decide(subDims(g, count(a), count(b)));
}

}  // namespace svod
