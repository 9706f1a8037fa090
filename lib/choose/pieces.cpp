#include "choose/pieces.h"

#include <algorithm>
#include <set>

#include "cost/cost.h"
#include "cost/parameters.h"
#include "ir/evaluate.h"
#include "ir/shape.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

using Values = std::vector<int64_t>;

/// Elements `first` to `last` of a sequence with one difference; the next run begins with the last of this one.
struct Run {
  int64_t first, last;
  int64_t steps() const { return last - first; }
};

std::vector<Run> runsOf(const Values& values) {
  std::vector<Run> runs;
  const auto step = [&](int64_t i) { return values[static_cast<size_t>(i) + 1] - values[static_cast<size_t>(i)]; };
  const int64_t last = std::ssize(values) - 1;
  for (int64_t first = 0; first < last;) {
    int64_t end = first + 1;
    while (end < last && step(end) == step(first)) ++end;
    runs.push_back({first, end});
    first = end;
  }
  return runs;
}

/// Where pieces may begin: at a jump behind it, at a bend with the element of both sides or the one behind it.
struct Breaks {
  std::set<int64_t> jumps;
  std::vector<std::pair<Run, Run>> bends;

  void add(const Values& values) {
    const std::vector<Run> runs = runsOf(values);
    for (size_t i = 1; i < runs.size(); ++i) {
      const bool isJump = runs[i].steps() == 1 && (i + 1 < runs.size() || runs[i - 1].steps() > 1);
      if (isJump)
        jumps.insert(runs[i++].last);
      else
        bends.push_back({runs[i - 1], runs[i]});
    }
  }

  std::set<int64_t> starts() const {
    std::set<int64_t> all = jumps;
    for (const auto& [before, behind] : bends) {
      const int64_t with = behind.first, without = with + 1;  // the bend
      if (!all.contains(with) && !all.contains(without)) all.insert(behind.steps() > before.steps() ? with : without);
    }
    return all;
  }
};

/// What is not linear in one counter, and known for every count of it.
bool bendsAlong(UOp n, UOp loop) {
  constexpr Op kBending[] = {Op::Min, Op::Max, Op::Floordiv, Op::Floormod, Op::Cdiv,  Op::Cmod,
                             Op::Lt,  Op::Le,  Op::Eq,       Op::Ne,       Op::Where, Op::Abs};
  if (std::ranges::find(kBending, n.op()) == std::end(kBending)) return false;
  if (n.dtype() != DType::Index && n.dtype() != DType::Bool) return false;
  return n.ranges().size() == 1 && n.ranges()[0] == loop;
}

/// The first counts of all pieces but the first one; nothing where they are too many, or only a run knows.
std::set<int64_t> startsAlong(UOp body, UOp loop) {
  const int64_t extent = maxExtent(loop);
  Breaks breaks;
  for (UOp n : toposort(body)) {
    if (!bendsAlong(n, loop)) continue;
    Values values;
    for (int64_t at = 0; at < extent; ++at) {
      const std::optional<Scalar> value = evaluate(n, [&](UOp leaf) -> std::optional<Scalar> {
        return leaf == loop ? std::optional(Scalar::ofInt(DType::Index, at)) : std::nullopt;
      });
      if (!value) return {};
      values.push_back(value->asInt());
    }
    breaks.add(values);
    if (std::ssize(breaks.jumps) >= parameters::kMostPieces) return {};
  }
  std::set<int64_t> starts = breaks.starts();
  return std::ssize(starts) < parameters::kMostPieces ? starts : std::set<int64_t>();
}

/// The loops of an End, as it names them.
std::vector<UOp> loopsOf(UOp end) { return {end.src().begin() + 1, end.src().end()}; }

/// The kernel with a loop for each piece of `loops[at]`, each with its own loops inside; outer ones are shared.
UOp withPieces(Graph& g, UOp sink, size_t at, const std::set<int64_t>& starts, const Caps& caps) {
  const UOp end = sink.src(0);
  const std::vector<UOp> loops = loopsOf(end);
  uint32_t next = nextRangeId(sink);
  std::vector<int64_t> bounds(starts.begin(), starts.end());
  bounds.insert(bounds.begin(), 0), bounds.push_back(maxExtent(loops[at]));
  std::vector<UOp> pieces;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    const int64_t count = bounds[i + 1] - bounds[i];
    std::vector<UOp> from(loops.begin() + static_cast<std::ptrdiff_t>(at), loops.end()), to, closed;
    for (UOp loop : from) {
      const UOp extent = loop == loops[at] ? g.index(count) : loop.src(0);
      const UOp own = extent.isConst(1) ? g.index(0) : g.range(extent, next++, axisType(loop));
      if (own.op() == Op::Range) closed.push_back(own);
      to.push_back(loop == loops[at] ? addIndices(g, own, g.index(bounds[i])) : own);
    }
    closed.insert(closed.begin(), substitute(g, end.src(0), from, to));
    pieces.push_back(closed.size() == 1 ? closed[0] : g.make(Op::End, DType::Void, closed));
  }
  std::vector<UOp> outer{g.make(Op::Group, DType::Void, pieces)};
  outer.insert(outer.end(), loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(at));
  return simplifyKernel(g, g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, outer)}, sink.arg()),
                        caps.numerics);
}

/// Instructions with the best lanes along one loop, or along all innermost ones that are long enough.
double instructions(UOp sink, const Caps& caps) {
  const KernelFacts facts(sink);
  const CostModel model(facts, caps);
  const auto shareNode = [&](UOp a, const Lanes& b) {
    return std::ranges::any_of(facts.nodes, [&](UOp n) { return n.dependsOn(a) && n.dependsOn(b.range); });
  };
  double least = model.instructions({});
  std::vector<Lanes> together;
  for (auto axis = facts.axes.rbegin(); axis != facts.axes.rend(); ++axis) {
    const UOp loop = axis->range;
    for (int64_t width : model.widths(loop)) {
      const Lanes lanes{loop, width};
      least = std::min(least, model.instructions({&lanes, 1}));
      const auto isTaken = [&](const Lanes& other) { return shareNode(loop, other); };
      if (maxExtent(loop) >= width && std::ranges::none_of(together, isTaken)) together.push_back(lanes);
    }
  }
  return std::min(least, model.instructions(together));
}

bool isStream(UOp sink) {
  if (sink.srcCount() != 1 || sink.src(0).op() != Op::End) return false;
  const UOp body = sink.src(0).src(0);
  if (body.op() != Op::Store) return false;
  return std::ranges::none_of(toposort(body), [](UOp n) { return n.op() == Op::Reduce || n.op() == Op::Fill; }) &&
         std::ranges::all_of(loopsOf(sink.src(0)), [](UOp r) { return axisType(r) == AxisType::Loop; });
}

}  // namespace

UOp splitPieces(Graph& g, UOp sink, const Caps& caps) {
  if (!isStream(sink)) return sink;
  const std::vector<UOp> loops = loopsOf(sink.src(0));
  for (size_t at = loops.size(); at-- > 1;) {
    const std::optional<int64_t> extent = constExtent(loops[at]);
    if (!extent || *extent < parameters::kLeastPieces || *extent > parameters::kLongestPieces) continue;
    const std::set<int64_t> starts = startsAlong(sink.src(0).src(0), loops[at]);
    if (starts.empty()) continue;
    const UOp split = withPieces(g, sink, at, starts, caps);
    if (instructions(split, caps) < parameters::kClearlyLess * instructions(sink, caps)) return split;
  }
  return sink;
}

}  // namespace svod
