#include "lower/gate_copies.h"

#include <algorithm>
#include <functional>

#include "ir/ranges.h"
#include "ir/workgroup.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

/// What an index that is filled stays below, where only a run knows that; null where nothing says so.
UOp limitOf(Graph& g, UOp index, UOp gate) {
  if (gate)
    for (UOp clause : splitClauses(gate))
      if (clause.op() == Op::Lt && clause.src(0) == index) return clause.src(1);
  if (index.op() == Op::Range) return index.src(0);
  if (index.op() == Op::Min) {
    for (UOp s : index.src())
      if (s.ranges().empty() && !s.isConst()) return simplify(g, g.alu(Op::Add, {s, g.index(1)}));
    return {};
  }
  if (index.op() == Op::Floormod || index.op() == Op::Cmod) return index.src(1);
  if (index.op() != Op::Floordiv && index.op() != Op::Cdiv) return {};
  UOp limit = limitOf(g, index.src(0), gate), by = index.src(1);
  if (!limit || by.bounds().min < 1) return {};
  UOp rest = g.alu(Op::Sub, {by, g.index(1)});
  return simplify(g, g.alu(Op::Floordiv, {g.alu(Op::Add, {limit, rest}), by}));
}

/// A place in a buffer as digits: `part` counts steps of `stride` elements.
struct Digit {
  UOp part;
  int64_t stride;
};

/// What a store fills, by its counters: each stays below the ratio of its stride to the next larger one. Empty where
/// that is not how they make the place.
std::vector<Digit> digitsOf(UOp place) {
  const Linear form = linearOf(place);
  std::vector<Digit> digits;
  for (const Term& t : form.terms) digits.push_back({t.base, t.coef});
  std::ranges::sort(digits, std::greater(), &Digit::stride);
  bool fits = !form.overflow && form.constant == 0 && !digits.empty() && digits.back().stride > 0;
  for (size_t i = 0; fits && i < digits.size(); ++i) {
    const int64_t larger = i == 0 ? 0 : digits[i - 1].stride;
    fits = digits[i].part.bounds().min >= 0 &&
           (i == 0 || (larger % digits[i].stride == 0 && digits[i].part.bounds().max < larger / digits[i].stride));
  }
  return fits ? digits : std::vector<Digit>();
}

/// A place that is read by the strides of what is filled, and null for a digit that may be larger than its stride lets
/// it; empty where it is no sum of steps of them that never fall. No digit is larger than that of the same place
/// filled.
std::vector<Digit> digitsBy(Graph& g, UOp place, std::span<const Digit> filled) {
  const Linear form = linearOf(place);
  if (form.overflow || form.constant < 0) return {};
  std::vector<Linear> parts(filled.size());
  int64_t rest = form.constant;
  for (size_t i = 0; i < filled.size(); ++i) parts[i].add(rest / filled[i].stride), rest %= filled[i].stride;
  for (const Term& t : form.terms) {
    const auto at = std::ranges::find_if(filled, [&](const Digit& d) { return t.coef % d.stride == 0; });
    if (t.coef < 0 || t.base.bounds().min < 0 || at == filled.end()) return {};
    parts[static_cast<size_t>(at - filled.begin())].add(t.base, t.coef / at->stride);
  }
  std::vector<Digit> digits;
  for (size_t i = 0; i < filled.size(); ++i) {
    const UOp part = build(g, parts[i]);
    const bool carries = !part || (i > 0 && part.bounds().max >= filled[i - 1].stride / filled[i].stride);
    digits.push_back({carries || rest > 0 ? UOp() : part, filled[i].stride});
  }
  return digits;
}

class CopyGates {
 public:
  CopyGates(Graph& g, UOp sink) : g_(g), sink_(sink) {}

  UOp run() {
    return transform(g_, sink_, [this](UOp n, std::span<const UOp> src) {
      const UOp same = std::ranges::equal(src, n.src()) ? n : g_.withSrc(n, src);
      const UOp gate = n.op() == Op::Load ? gateOf(n) : UOp();
      if (!gate) return same;
      const bool hasGate = same.srcCount() > 2;
      const UOp alt = hasGate ? same.src(1) : g_.constant(Scalar::of(n.dtype(), 0));
      return g_.load(same.src(0), alt, hasGate ? g_.alu(Op::And, {gate, same.src(2)}) : gate);
    });
  }

 private:
  /// What each thread fills for itself is its own.
  static bool isPrivate(UOp fill) {
    return std::ranges::any_of(fill.ranges(), [](UOp r) { return isThread(r) || axisType(r) == AxisType::Warp; });
  }

  /// Where a load lies inside of what is filled; null where it always does, or where that is not known.
  UOp gateOf(UOp load) {
    const UOp fill = storageOf(load.src(0)), store = fill.op() == Op::Fill ? fill.src(0) : UOp();
    if (!store || store.op() != Op::Store || isPrivate(fill)) return {};
    if (std::ranges::any_of(load.ranges(), [](UOp r) { return axisType(r) == AxisType::Core; })) return {};
    if (store.src(0).srcCount() != 2 || load.src(0).srcCount() != 2) return {};
    const std::vector<Digit> filled = digitsOf(store.src(0).src(1));
    const std::vector<Digit> read = digitsBy(g_, load.src(0).src(1), filled);
    UOp all;
    for (size_t i = 0; i < read.size(); ++i) {
      const UOp limit = limitOf(g_, filled[i].part, store.srcCount() > 2 ? store.src(2) : UOp());
      if (!read[i].part || !limit || limit.isConst() || !limit.ranges().empty()) continue;
      const UOp isInside = simplify(g_, g_.alu(Op::Lt, {read[i].part, limit}));
      if (isInside.isConst(1)) continue;
      if (load.srcCount() > 2 && simplifyUnder(g_, isInside, load.src(2)).isConst(1)) continue;
      all = all ? g_.alu(Op::And, {all, isInside}) : isInside;
    }
    return all;
  }

  Graph& g_;
  UOp sink_;
};

}  // namespace

UOp gateCopies(Graph& graph, UOp sink) { return CopyGates(graph, sink).run(); }

}  // namespace svod
