// Reductions over loop ranges: ranges the value does not use, sums that have a closed form, and sums that pick one
// element. They turn aranges, one-hot encodings, triangular masks and embedding lookups into index arithmetic.
#include <algorithm>
#include <cmath>

#include "symbolic/divmod.h"
#include "symbolic/groups.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

constexpr int kMaxDepth = 24;

Op reduceOp(UOp n) { return n.argAs<ReduceArg>().op; }

UOp reduceAgain(Graph& g, UOp node, UOp value, std::span<const UOp> ranges) {
  return ranges.empty() ? value : g.reduceRanges(reduceOp(node), value, ranges);
}

std::vector<UOp> without(std::span<const UOp> ranges, UOp range) {
  std::vector<UOp> rest(ranges.begin(), ranges.end());
  std::erase(rest, range);
  return rest;
}

// A sum of `extent` equal floats is extent * value, rounded once, when extent is a power of two.
bool isPowerOfTwo(UOp extent) { return extent.isConst() && (extent.constInt() & (extent.constInt() - 1)) == 0; }

// value combined with itself `extent` times, or null.
UOp repeated(Graph& g, Op op, UOp value, UOp extent, bool anyFloatSum) {
  if (op == Op::Max || op == Op::Min) return value;
  bool isSum = op == Op::Add;
  if (isFloat(value.dtype()) && !(isSum && (anyFloatSum || isPowerOfTwo(extent)))) return {};
  if (value.dtype() == DType::Bool) return value;
  if (isSum) return g.alu(Op::Mul, {value, g.cast(extent, value.dtype())});
  if (!extent.isConst()) return {};
  UOp power, square = value;
  for (int64_t n = extent.constInt(); n > 0; n >>= 1) {
    if (n & 1) power = power ? g.alu(Op::Mul, {power, square}) : square;
    if (n > 1) square = g.alu(Op::Mul, {square, square});
  }
  return power;
}

UOp dropUnused(const Match& m, bool anyFloatSum) {
  UOp value = m.node.src(0);
  for (UOp r : m.node.src().subspan(1)) {
    if (value.dependsOn(r) || r.src(0).bounds().min < 1) continue;
    UOp once = reduceAgain(m.graph, m.node, value, without(m.node.src().subspan(1), r));
    if (UOp times = repeated(m.graph, reduceOp(m.node), once, r.src(0), anyFloatSum)) return times;
  }
  return {};
}
UOp unusedRange(const Match& m) { return isFloat(m.node.dtype()) && reduceOp(m.node) == Op::Add ? UOp() : dropUnused(m, false); }
UOp unusedRangeContract(const Match& m) { return dropUnused(m, false); }
UOp unusedRangeFast(const Match& m) { return dropUnused(m, true); }

// coef * range + rest, compared with 0.
struct RangeClause {
  Op op;  // Lt, Eq or Ne
  int64_t coef;
  Linear rest;
};

// Sums over one range [0, extent) in closed form.
class Collapse {
 public:
  Collapse(Graph& graph, UOp range) : g_(graph), math_{graph}, range_(range), extent_(range.src(0)) {}

  // The sum of `body` over the range, or null. Integers wrap alike on both sides.
  UOp sum(UOp body, int depth = 0) {
    if (depth > kMaxDepth) return {};
    if (!body.dependsOn(range_)) return isFloat(body.dtype()) ? UOp() : repeated(g_, Op::Add, body, extent_, false);
    if (body.op() == Op::Where) return sumOfWhere(body, depth);
    if (body.op() == Op::Cast && body.src(0).dtype() == DType::Bool)
      return counted(body.src(0), g_.constant(Scalar::of(body.dtype(), 1)));
    if (isFloat(body.dtype())) return {};
    if (body.dtype() == DType::Index)
      if (UOp closed = sumOfLinear(body)) return closed;
    switch (body.op()) {
      case Op::Add:
      case Op::Sub: {
        UOp a = sum(body.src(0), depth + 1), b = a ? sum(body.src(1), depth + 1) : UOp();
        return b ? g_.alu(body.op(), {a, b}) : UOp();
      }
      case Op::Neg: {
        UOp a = sum(body.src(0), depth + 1);
        return a ? g_.alu(Op::Neg, {a}) : UOp();
      }
      case Op::Mul:
        for (size_t i : {0, 1}) {
          if (body.src(i).dependsOn(range_)) continue;
          UOp a = sum(body.src(1 - i), depth + 1);
          return a ? g_.alu(Op::Mul, {a, body.src(i)}) : UOp();
        }
        return {};
      case Op::Cast: {  // narrowing keeps sums
        UOp inner = body.src(0);
        if (!isInt(inner.dtype()) || !isInt(body.dtype()) || info(inner.dtype()).bits < info(body.dtype()).bits) return {};
        UOp a = sum(inner, depth + 1);
        return a ? g_.cast(a, body.dtype()) : UOp();
      }
      default: return {};
    }
  }

  // How many values of the range satisfy `condition`, an Index, or null.
  UOp count(UOp condition, int depth = 0) {
    if (depth > kMaxDepth) return {};
    if (!condition.dependsOn(range_)) return g_.where(condition, extent_, g_.index(0));
    if (condition.op() == Op::Not) {
      UOp inner = count(condition.src(0), depth + 1);
      return inner ? g_.alu(Op::Sub, {extent_, inner}) : UOp();
    }
    if (condition.op() == Op::Or) {  // |a or b| = |a| + |b| - |a and b|
      UOp a = count(condition.src(0), depth + 1), b = a ? count(condition.src(1), depth + 1) : UOp();
      UOp both = b ? count(g_.alu(Op::And, {condition.src(0), condition.src(1)}), depth + 1) : UOp();
      return both ? g_.alu(Op::Sub, {g_.alu(Op::Add, {a, b}), both}) : UOp();
    }
    if (condition.op() == Op::Ne) {
      UOp same = count(g_.alu(Op::Eq, {condition.src(0), condition.src(1)}), depth + 1);
      return same ? g_.alu(Op::Sub, {extent_, same}) : UOp();
    }
    return countOfAll(splitClauses(condition));
  }

  // The only value of the range that `condition` allows, and what else must hold for it. Null value: not of that kind.
  struct Only {
    UOp value, valid;
  };
  Only only(UOp condition) {
    std::vector<UOp> clauses = splitClauses(condition);
    for (size_t i = 0; i < clauses.size(); ++i) {
      std::optional<RangeClause> c = parse(clauses[i]);
      if (!c || c->op != Op::Eq || c->coef == 0 || (c->coef != 1 && c->coef != -1)) continue;
      Linear solved;
      solved.add(c->rest, -c->coef);
      UOp value = build(g_, solved);
      if (!value) continue;
      std::vector<UOp> valid{g_.alu(Op::Le, {g_.index(0), value}), g_.alu(Op::Lt, {value, extent_})};
      for (size_t j = 0; j < clauses.size(); ++j)
        if (j != i) valid.push_back(substitute(g_, clauses[j], {&range_, 1}, {&value, 1}));
      return {value, joinClauses(g_, valid)};
    }
    return {};
  }

 private:
  UOp toIndex(UOp n) { return simplify(g_, g_.cast(n, DType::Index)); }

  std::optional<RangeClause> parse(UOp clause) {
    Op op = clause.op();
    bool known = op == Op::Lt || op == Op::Le || op == Op::Eq || op == Op::Ne;
    if (!known || !isInt(clause.src(0).dtype()) || clause.src(0).dtype() == DType::U64) return std::nullopt;
    Linear rest = linearOf(toIndex(clause.src(0)));
    rest.add(linearOf(toIndex(clause.src(1))), -1);
    if (op == Op::Le) rest.add(-1), op = Op::Lt;
    int64_t coef = rest.coefOf(range_);
    rest.add(range_, coef == INT64_MIN ? 0 : -coef);
    for (const Term& t : rest.terms)
      if (t.base.dependsOn(range_)) return std::nullopt;
    if (rest.overflow || coef == INT64_MIN) return std::nullopt;
    return RangeClause{op, coef, std::move(rest)};
  }

  UOp countOfAll(const std::vector<UOp>& clauses) {
    UOp low, high = extent_;
    std::vector<UOp> outer;
    for (UOp clause : clauses) {
      if (!clause.dependsOn(range_)) {
        outer.push_back(clause);
        continue;
      }
      std::optional<RangeClause> c = parse(clause);
      if (!c || c->op == Op::Ne) return {};
      if (c->op == Op::Eq) {
        Only one = only(joinClauses(g_, clauses));
        return one.value ? g_.where(one.valid, g_.index(1), g_.index(0)) : UOp();
      }
      Linear bound;  // coef * r + rest < 0
      if (c->coef > 0) {
        bound.add(c->rest, -1);
        bound.add(c->coef - 1);
      } else {
        bound = c->rest;
      }
      bound = math_.floorDiv(bound, std::abs(c->coef));
      if (c->coef < 0) bound.add(1);
      UOp limit = build(g_, bound);
      if (!limit) return {};
      if (c->coef > 0) high = g_.alu(Op::Min, {high, limit});
      else low = low ? g_.alu(Op::Max, {low, limit}) : g_.alu(Op::Max, {limit, g_.index(0)});
    }
    UOp size = low ? g_.alu(Op::Sub, {high, low}) : high;
    size = g_.alu(Op::Max, {size, g_.index(0)});
    return outer.empty() ? size : g_.where(joinClauses(g_, outer), size, g_.index(0));
  }

  // value times the number of hits of `condition`, where value does not use the range.
  UOp counted(UOp condition, UOp value) {
    if (isFloat(value.dtype()) && !sumsExactly(value)) return {};
    UOp times = count(condition);
    return times ? g_.alu(Op::Mul, {value, g_.cast(times, value.dtype())}) : UOp();
  }

  // Every multiple up to the extent is representable, so that the order of additions does not matter.
  bool sumsExactly(UOp value) const {
    if (!value.isConst() || extent_.bounds().max > (int64_t{1} << 52)) return false;
    double v = std::abs(value.constant().asFloat());
    if (v == 0 || !std::isfinite(v)) return false;
    int exponent = 0;
    double mantissa = std::frexp(v, &exponent);
    while (mantissa != std::floor(mantissa)) mantissa *= 2;
    double multiples = mantissa * static_cast<double>(extent_.bounds().max);
    return multiples <= std::ldexp(1.0, info(value.dtype()).fractionBits + 1) &&
           v * static_cast<double>(extent_.bounds().max) <= maxFinite(value.dtype());
  }

  UOp sumOfWhere(UOp body, int depth) {
    UOp condition = body.src(0), a = body.src(1), b = body.src(2);
    if (!condition.dependsOn(range_)) {
      UOp x = sum(a, depth + 1), y = x ? sum(b, depth + 1) : UOp();
      return y ? g_.where(condition, x, y) : UOp();
    }
    if (a.dependsOn(range_) || b.dependsOn(range_)) return {};
    if (isFloat(body.dtype())) {
      bool zero = b.isConst() && b.constant() == Scalar::ofFloat(b.dtype(), 0);
      return zero ? counted(condition, a) : UOp();
    }
    UOp first = counted(condition, a);
    if (!first || b.isConst(0)) return first;
    UOp other = counted(g_.alu(Op::Not, {condition}), b);
    return other ? g_.alu(Op::Add, {first, other}) : UOp();
  }

  // sum(c * r + rest) = c * n * (n - 1) / 2 + rest * n
  UOp sumOfLinear(UOp body) {
    Linear form = linearOf(body);
    int64_t coef = form.coefOf(range_), total = 0;
    form.add(range_, coef == INT64_MIN ? 0 : -coef);
    if (form.overflow || coef == INT64_MIN || !extent_.isConst()) return {};
    for (const Term& t : form.terms)
      if (t.base.dependsOn(range_)) return {};
    int64_t n = extent_.constInt();
    if (n < 1 || n > (int64_t{1} << 31) || __builtin_mul_overflow(n * (n - 1) / 2, coef, &total)) return {};
    Linear result;
    result.add(form, n);
    result.add(total);
    return build(g_, result);
  }

  Graph& g_;
  IndexMath math_;
  UOp range_, extent_;
};

UOp closedSum(const Match& m) {
  UOp value = m.node.src(0);
  if (reduceOp(m.node) != Op::Add || !(isInt(value.dtype()) || isFloat(value.dtype()))) return {};
  std::span<const UOp> ranges = m.node.src().subspan(1);
  for (UOp r : ranges) {
    if (!value.dependsOn(r) || r.src(0).bounds().min < 1) continue;
    if (UOp sum = Collapse(m.graph, r).sum(value)) return reduceAgain(m.graph, m.node, sum, without(ranges, r));
  }
  return {};
}

// `value` with the range replaced; loads that used it happen only where `valid` holds.
UOp pickElement(Graph& g, UOp value, UOp range, UOp by, UOp valid) {
  return transform(g, value, [&](UOp n, std::span<const UOp> src) {
    if (n == range) return by;
    bool changed = !std::ranges::equal(src, n.src());
    if (!changed) return n;
    if (n.op() != Op::Load || !n.src(0).dependsOn(range)) return g.withSrc(n, src);
    if (src.size() == 1) return g.load(src[0], g.constant(Scalar::of(n.dtype(), 0)), valid);
    return g.load(src[0], src[1], g.alu(Op::And, {src[2], valid}));
  });
}

// A condition without which `body` is `neutral`, or null.
UOp selectorOf(UOp body, const Scalar& neutral) {
  auto isNeutral = [&](UOp n) { return n.isConst() && n.constant() == neutral; };
  if (body.op() == Op::Where && isNeutral(body.src(2))) return body.src(0);
  if (body.op() == Op::Load && body.srcCount() == 3 && isNeutral(body.src(1))) return body.src(2);
  Scalar zero = Scalar::of(body.dtype(), 0);
  if (neutral != zero) return {};
  if (body.op() == Op::Cast && body.src(0).dtype() != DType::Bool) return selectorOf(body.src(0), Scalar::of(body.src(0).dtype(), 0));
  if (body.op() != Op::Mul || isFloat(body.dtype())) return {};
  UOp first = selectorOf(body.src(0), zero);
  return first ? first : selectorOf(body.src(1), zero);
}

// reduce(where(r == e, f(r), identity), r) = where(0 <= e < n, f(e), identity)
UOp pickedElement(const Match& m) {
  UOp body = m.node.src(0);
  Op op = reduceOp(m.node);
  Scalar neutral = identity(op, body.dtype());
  UOp condition = selectorOf(body, neutral);
  if (!condition) return {};
  std::span<const UOp> ranges = m.node.src().subspan(1);
  for (UOp r : ranges) {
    if (!condition.dependsOn(r)) continue;
    Collapse::Only one = Collapse(m.graph, r).only(condition);
    if (!one.value) continue;
    UOp picked = pickElement(m.graph, body, r, one.value, one.valid), rest = m.graph.constant(neutral);
    // The reduction starts at +0, so that it never yields -0.
    if (isFloat(body.dtype()) && op == Op::Add) picked = m.graph.alu(Op::Add, {picked, rest});
    return reduceAgain(m.graph, m.node, m.graph.where(one.valid, picked, rest), without(ranges, r));
  }
  return {};
}

// Integer factors that use none of the ranges leave a sum.
UOp commonFactor(const Match& m) {
  UOp body = m.node.src(0);
  if (reduceOp(m.node) != Op::Add || body.op() != Op::Mul) return {};
  std::span<const UOp> ranges = m.node.src().subspan(1);
  for (size_t i : {1, 0}) {
    UOp factor = body.src(i);
    if (std::ranges::any_of(ranges, [&](UOp r) { return factor.dependsOn(r); })) continue;
    return m.graph.alu(Op::Mul, {reduceAgain(m.graph, m.node, body.src(1 - i), ranges), factor});
  }
  return {};
}

constexpr Rule kRules[] = {
    native("reduce-unused-range", op(Op::Reduce), kAllDomains, unusedRange),
    native("reduce-picks-element", op(Op::Reduce), kAllDomains, pickedElement),
    native("reduce-closed-sum", op(Op::Reduce), kInts | kFloats, closedSum),
    native("reduce-common-factor", op(Op::Reduce), kInts, commonFactor),
};
constexpr Rule kContract[] = {native("reduce-unused-range-contract", op(Op::Reduce), kFloats, unusedRangeContract)};
constexpr Rule kFast[] = {
    native("reduce-unused-range-fast", op(Op::Reduce), kFloats, unusedRangeFast),
    native("reduce-common-factor-fast", op(Op::Reduce), kFloats, commonFactor),
};

}  // namespace

constinit const RuleGroup kReduceRules{"reduce", kRules};
constinit const RuleGroup kReduceContractRules{"reduce-contract", kContract};
constinit const RuleGroup kReduceFastRules{"reduce-fast", kFast};

}  // namespace svod
