#include "opts/split_ranges.h"

#include <algorithm>
#include <map>
#include <set>

#include "facts/axes.h"
#include "opts/reloop.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

/// Of fewer neighbours lanes make less than of the counter as it is: a few vectors and shuffles bring theirs together.
constexpr int64_t kLeastPart = 4;

/// What the counter of one loop is divided by.
struct Divisors {
  std::set<int64_t> quotients, remainders;  // r // n and r % n
  bool isWhole = false;  // it is reduced over, sums with r are divided, or it is divided by what only a run knows

  /// The greatest number by which both are asked for, if each divisor divides the next one; 0 where there is none.
  int64_t greatest() const {
    std::set<int64_t> all = quotients;
    all.insert(remainders.begin(), remainders.end());
    const auto fits = [](int64_t a, int64_t b) { return b % a != 0; };  // adjacent_find looks for what does not
    if (isWhole || std::ranges::adjacent_find(all, fits) != all.end()) return 0;
    const auto both = std::find_if(all.rbegin(), all.rend(),
                                   [this](int64_t n) { return quotients.contains(n) && remainders.contains(n); });
    return both == all.rend() || *both < kLeastPart ? 0 : *both;
  }
};

/// Of every loop, by the id of its node.
std::map<uint32_t, Divisors> divisorsIn(UOp sink) {
  std::map<uint32_t, Divisors> found;
  for (UOp n : toposort(sink)) {
    // The rows and columns of a product are better long: its register tile takes some of one of each.
    if (n.op() == Op::Reduce)
      for (UOp r : n.src(0).ranges()) found[r.id()].isWhole = true;
    if ((n.op() != Op::Floordiv && n.op() != Op::Floormod) || n.dtype() != DType::Index) continue;
    const UOp counter = n.src(0);
    const bool isPlain = counter.op() == Op::Range && n.src(1).isConst() && n.src(1).constInt() > 1;
    if (isPlain) {
      Divisors& of = found[counter.id()];
      (n.op() == Op::Floordiv ? of.quotients : of.remainders).insert(n.src(1).constInt());
      continue;
    }
    // (r // a) % b is a digit of r: what is left of it once r // a is a counter.
    const bool isDigit = counter.op() == Op::Floordiv && counter.src(0).op() == Op::Range && counter.src(1).isConst() &&
                         n.op() == Op::Floormod && n.src(1).isConst();
    if (isDigit) continue;
    for (UOp r : n.ranges()) found[r.id()].isWhole = true;
  }
  return found;
}

/// The first loop that can be split, and by what; an empty handle where there is none.
Split firstSplit(UOp sink) {
  const std::map<uint32_t, Divisors> divisors = divisorsIn(sink);
  for (UOp r : toposort(sink)) {
    const auto found = r.op() == Op::Range ? divisors.find(r.id()) : divisors.end();
    if (found == divisors.end()) continue;
    const int64_t n = found->second.greatest();
    if (n > 0 && isMultipleOf(r.src(0), n) && !r.src(0).isConst(n)) return {r, n, axisType(r), axisType(r)};
  }
  return {};
}

}  // namespace

UOp splitRanges(Graph& graph, UOp sink) {
  for (Split split = firstSplit(sink); split.range; split = firstSplit(sink))
    sink = simplify(graph, splitRange(graph, sink, split).sink);
  return sink;
}

}  // namespace svod
