#include "lower/reduce_rests.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/ranges.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

/// Of a term that stands behind its loop again: more would be much code for few masks.
constexpr int64_t kMostNodes = 40;

int64_t weightOf(UOp term) {
  return std::ranges::count_if(toposort(term), [](UOp n) { return n.dtype() != DType::Index && !n.isConst(); });
}

/// A reduction in steps: of `steps` iterations with `copies` accumulators or unrolled terms, each of some `lanes`.
struct Steps {
  UOp reduce, body;  // what becomes of all of them, and of one term: x where it is there, else the identity
  UOp steps, copies, lanes;

  int64_t count(UOp range) const { return range ? range.src(0).constInt() : 1; }
};

/// The ranges by their types. What sums up in order, and what instructions or threads sum up, has others.
std::optional<Steps> stepsOf(UOp reduce) {
  if (reduce.op() != Op::Reduce) return std::nullopt;
  Steps found{reduce, reduce.src(0), {}, {}, {}};
  std::vector<UOp> ranges(reduce.src().begin() + 1, reduce.src().end());
  const bool isNested = found.body.op() == Op::Reduce && found.body.arg() == reduce.arg();
  if (isNested && std::ranges::none_of(ranges, [](UOp r) { return axisType(r) == AxisType::Reduce; })) {
    ranges.insert(ranges.end(), found.body.src().begin() + 1, found.body.src().end());
    found.body = found.body.src(0);
  }
  for (UOp r : ranges) {
    const AxisType type = axisType(r);
    const bool isCopies = type == AxisType::Upcast || type == AxisType::Unroll;
    if (!isCopies && type != AxisType::Reduce && type != AxisType::Vector) return std::nullopt;
    UOp& place = isCopies ? found.copies : type == AxisType::Vector ? found.lanes : found.steps;
    if (place) return std::nullopt;
    place = r;
  }
  const bool mayReorder = found.lanes || (found.copies && axisType(found.copies) == AxisType::Upcast);
  if (!mayReorder || !found.steps || found.body.op() != Op::Where) return std::nullopt;
  return found;
}

/// The number of terms, where a term is there if its number is less: null where the mask says anything else.
UOp termsOf(Graph& g, const Steps& s) {
  const std::vector<UOp> clauses = splitClauses(s.body.src(0));
  for (size_t i = 0; i < clauses.size(); ++i) {
    std::vector<UOp> others = clauses;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    UOp clause = others.empty() ? clauses[i] : simplifyUnder(g, clauses[i], joinClauses(g, others));
    if (clause.op() != Op::Lt || clause.src(0).dtype() != DType::Index) continue;
    Linear difference = linearOf(clause.src(0));
    difference.add(linearOf(clause.src(1)), -1);
    if (difference.overflow) continue;
    int64_t dense = 1;
    bool isDense = true;
    for (UOp r : {s.lanes, s.copies, s.steps}) {
      if (!r) continue;
      isDense &= difference.coefOf(r) == dense;
      difference.add(r, -dense);
      if (r != s.steps) dense *= s.count(r);
    }
    const bool isSimple = std::ranges::all_of(difference.terms, [&](const Term& t) {
      return std::ranges::none_of(t.base.ranges(),
                                  [](UOp r) {
                                    return axisType(r) != AxisType::Loop && axisType(r) != AxisType::Thread &&
                                           axisType(r) != AxisType::Reduce;
                                  }) &&
             !t.base.dependsOn(s.steps);
    });
    if (!isDense || !isSimple) continue;
    Linear terms;
    terms.add(difference, -1);
    return terms.overflow ? UOp() : build(g, terms);
  }
  return {};
}

class ReduceSplitter {
 public:
  ReduceSplitter(Graph& g, UOp sink) : g_(g), nextRange_(nextRangeId(sink)) {}

  UOp run(UOp sink) {
    return transform(g_, sink, [this](UOp n, std::span<const UOp> src) {
      UOp same = std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
      const std::optional<Steps> steps = stepsOf(same);
      if (!steps) return same;
      return steps->steps.src(0).isConst() ? splitLast(*steps) : split(*steps);
    });
  }

 private:
  UOp split(const Steps& s) {
    const UOp terms = termsOf(g_, s);
    for (UOp n : toposort(s.body))
      if (n.op() == Op::Fill && n.dependsOn(s.steps)) return s.reduce;
    if (!terms || terms.bounds().min < 0) return s.reduce;
    const int64_t lanes = s.count(s.lanes), atOnce = s.count(s.copies) * lanes;
    const UOp whole = simplify(g_, g_.alu(Op::Floordiv, {terms, g_.index(atOnce)})), first = times(whole, atOnce);
    const UOp left = g_.alu(Op::Floormod, {terms, g_.index(atOnce)});
    const UOp vectors = g_.alu(Op::Floordiv, {plus(left, g_.index(lanes - 1)), g_.index(lanes)});
    // The counter of a single step is no part of an address, and a load without it happens whether the step does or
    // not.
    if (whole.bounds().max <= 1 || (!s.lanes && simplify(g_, vectors).bounds().max <= 1)) return s.reduce;
    const UOp step = ownRange(s.steps, whole, 0), next = ownRange(s.steps, simplify(g_, vectors), lanes);

    const UOp lastCopy = g_.index(s.count(s.copies) - 1);
    const UOp inStep = g_.alu(Op::Lt, {plus(times(step, atOnce), g_.index(atOnce - 1)), terms});
    const UOp body = under(s, step, s.copies, withClauses(s, step, lastCopy, lanes - 1, inStep));
    if (body.op() == Op::Where) return s.reduce;  // another mask stays
    const UOp isLeft = g_.alu(Op::Lt, {plus(first, times(next, lanes)), terms});
    const UOp restStep = s.copies ? whole : plus(whole, next);
    const UOp rest = under(s, restStep, next, withClauses(s, restStep, next, 0, isLeft));
    return folded(s, body, step, rest, next);
  }

  /// The last of a known number of steps alone may have a mask, which says which of its terms an earlier one had.
  UOp splitLast(const Steps& s) {
    const int64_t whole = s.count(s.steps) - 1;
    const std::vector<UOp> nodes = toposort(s.body);
    const bool hasFill = std::ranges::any_of(nodes, [&](UOp n) { return n.op() == Op::Fill && n.dependsOn(s.steps); });
    if (whole < 1 || hasFill || weightOf(s.body.src(1)) > kMostNodes) return s.reduce;
    if (s.copies && axisType(s.copies) == AxisType::Unroll) return s.reduce;
    const UOp step = ownRange(s.steps, g_.index(whole), 0), always = g_.boolean(true);
    const UOp body = under(s, step, s.copies, always), last = under(s, g_.index(whole), s.copies, always);
    if (body.op() == Op::Where) return s.reduce;  // another mask stays
    const Op op = s.reduce.argAs<ReduceArg>().op;
    UOp sum = g_.alu(op, {g_.reduceRanges(op, body, {&step, 1}), last});
    if (s.copies) sum = g_.reduceRanges(op, sum, {&s.copies, 1});
    return s.lanes ? g_.reduceRanges(op, sum, {&s.lanes, 1}) : sum;
  }

  UOp folded(const Steps& s, UOp body, UOp step, UOp rest, UOp next) {
    const Op op = s.reduce.argAs<ReduceArg>().op;
    const bool isUnrolled = s.copies && axisType(s.copies) == AxisType::Unroll;
    std::vector<UOp> ranges{step};
    if (isUnrolled) ranges.push_back(s.copies);
    UOp sum = g_.reduceRanges(op, body, ranges);
    if (s.copies && !isUnrolled) sum = g_.reduceRanges(op, sum, {&s.copies, 1});
    UOp both = g_.alu(op, {sum, g_.reduceRanges(op, rest, {&next, 1})});
    return s.lanes ? g_.reduceRanges(op, both, {&s.lanes, 1}) : both;
  }

  UOp at(const Steps& s, UOp of, UOp step, UOp copy, UOp lane) {
    std::vector<UOp> from{s.steps}, to{step};
    if (s.copies) from.push_back(s.copies), to.push_back(copy);
    if (s.lanes && lane) from.push_back(s.lanes), to.push_back(lane);
    return substitute(g_, of, from, to);
  }

  /// A fact, and the clauses of the mask that follow from it for this term. Of a quotient nothing is known before it is
  /// multiplied out.
  UOp withClauses(const Steps& s, UOp step, UOp copy, int64_t lane, UOp fact) {
    UOp all = fact;
    for (UOp clause : splitClauses(s.body.src(0))) {
      UOp here = at(s, clause, step, copy, g_.index(lane)), product = here;
      if (here.op() == Op::Lt && here.src(1).op() == Op::Floordiv && here.src(1).src(1).isConst()) {
        const int64_t d = here.src(1).src(1).constInt();
        if (d > 0) product = g_.alu(Op::Lt, {plus(times(here.src(0), d), g_.index(d - 1)), here.src(1).src(0)});
      }
      if (simplifyUnder(g_, product, fact).isConst(1)) all = g_.alu(Op::And, {all, here});
    }
    return all;
  }

  /// A term with these in place of the counters, where `known` holds.
  UOp under(const Steps& s, UOp step, UOp copy, UOp known) {
    return transform(g_, at(s, s.body, step, copy, {}), [&](UOp n, std::span<const UOp> same) {
      if (n.op() == Op::Range) return n;  // its loop closes the one that stands there
      std::vector<UOp> src(same.begin(), same.end());
      const auto learn = [&](UOp& of) { of = simplifyUnder(g_, of, known); };
      if (n.op() == Op::Index) std::ranges::for_each(std::span(src).subspan(1), learn);
      if (n.op() == Op::Where) learn(src[0]);
      if (n.op() == Op::Where && src[0].isConst(1)) return src[1];
      if (n.op() == Op::Load && src.size() > 2) learn(src[2]);
      if (n.op() == Op::Load && src.size() > 2 && src[2].isConst(1)) src.resize(1);
      return std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
    });
  }

  UOp plus(UOp a, UOp b) { return g_.alu(Op::Add, {a, b}); }
  UOp times(UOp a, int64_t factor) { return g_.alu(Op::Mul, {a, g_.index(factor)}); }

  /// Sums over the same steps get the same ranges again, so that their loops merge.
  UOp ownRange(UOp steps, UOp extent, int64_t width) {
    UOp& range = ranges_[{steps.id(), extent.id(), width}];
    if (!range) range = g_.range(extent, nextRange_++, AxisType::Reduce);
    return range;
  }

  Graph& g_;
  uint32_t nextRange_;
  std::map<std::tuple<uint32_t, uint32_t, int64_t>, UOp> ranges_;
};

}  // namespace

UOp splitReduceRests(Graph& graph, UOp sink) { return ReduceSplitter(graph, sink).run(sink); }

}  // namespace svod
