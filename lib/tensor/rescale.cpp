#include "tensor/rescale.h"

#include <optional>
#include <set>

#include "ir/likely.h"
#include "support/integers.h"
#include "tensor/parts.h"
#include "tensor/softmax.h"
#include "tensor/work.h"

namespace svod {

namespace {

using namespace parameters;

/// The sum over one axis of exp(x - max x).
struct ExpSum {
  UOp sum, max, x;
  int32_t axis;
};

UOp alongAxis(Graph& g, UOp perRow, UOp x, int32_t axis) {
  std::vector<UOp> withOne(x.shape().begin(), x.shape().end());
  withOne[static_cast<size_t>(axis)] = g.index(1);
  return g.expand(g.reshape(perRow, withOne), x.shape());
}

bool isOneAxis(UOp n, Op op) {
  return n.op() == Op::Reduce && n.argAs<ReduceArg>().op == op && n.argAs<ReduceArg>().axes.size() == 1;
}
int32_t axisOf(UOp reduce) { return reduce.argAs<ReduceArg>().axes[0]; }

std::optional<ExpSum> expSumOf(Graph& g, UOp n) {
  if (!isOneAxis(n, Op::Add) || n.src(0).op() != Op::Exp || n.src(0).hasSymbolicShape() || roundsParts(n))
    return std::nullopt;
  UOp distance = n.src(0).src(0);
  const std::optional<ExpOfDistance> e = expOfDistance(n.src(0));
  if (!e || !isOneAxis(e->max, Op::Max) || e->max.src(0) != e->x || axisOf(e->max) != axisOf(n)) return std::nullopt;
  if (alongAxis(g, e->max, e->x, axisOf(n)) != distance.src(1)) return std::nullopt;
  return ExpSum{n, e->max, e->x, axisOf(n)};
}

bool isNear(int64_t partBytes, const GraphMachine& machine) { return kNearPart * partBytes <= machine.sweepBytes; }

GpuReduction onGpu(const ExpSum& e, const GraphGpu& gpu) {
  const auto rows = static_cast<double>(likelyNumel(e.sum));
  const bool isInner = static_cast<size_t>(e.axis) + 1 == e.x.rank();
  return {static_cast<double>(memoryBytes(e.x.dtype(), likelyNumel(e.x))), rows,
          isInner ? gpu.rowThreads : gpu.columnThreads};
}

/// Near to the number that gives all threads work; 0 for one.
int64_t partsOnGpu(const ExpSum& e, const GraphMachine& machine) {
  const int64_t extent = e.x.dim(e.axis), wanted = partsFor(onGpu(e, machine.gpu), extent, machine.gpu);
  return wanted > 1 ? divisorWithin(extent, std::max<int64_t>(2, wanted / 2), 2 * wanted - 1) : 0;
}

/// Into how many equal parts a row goes; 0 for none.
int64_t partsOf(const ExpSum& e, const GraphMachine& machine) {
  if (machine.gpu.threads > 0) return partsOnGpu(e, machine);
  const int64_t extent = e.x.dim(e.axis), rows = likelyNumel(e.sum), rowBytes = memoryBytes(e.x.dtype(), extent);
  const bool isShared = rows <= kFewRows && extent >= kSharedRow && rows * extent >= kSharedElements;
  if (rowBytes < kFarRow * machine.sweepBytes && !isShared) return 0;
  for (int64_t parts = extent / kLeastOfPart; parts > 0 && isNear(rowBytes / parts, machine); --parts)
    if (extent % parts == 0) return parts;
  return 0;
}

/// Loads from memory: maximum, sum and quotients each sweep over a row that no cache holds; over parts that stay in
/// one, the first two are a single sweep.
double costOf(const ExpSum& e, int64_t parts, const GraphMachine& machine) {
  if (machine.gpu.threads > 0) return timeOf(onGpu(e, machine.gpu), parts, machine.gpu);
  const bool isCached = parts > 1 && isNear(memoryBytes(e.x.dtype(), e.x.dim(e.axis)) / parts, machine);
  return (isCached ? 2 : 3) * kLoadCost * static_cast<double>(likelyNumel(e.x));
}

UOp reduced(Graph& g, Op op, UOp x, int32_t axis) { return g.reduce(op, x, {&axis, 1}); }
UOp expOf(Graph& g, UOp x, UOp from) { return g.alu(Op::Exp, {g.alu(Op::Sub, {x, from})}); }

/// {max x, sum of exp(x - max x)}. Sums that are relative to different maxima are rescaled before they are added:
///   (m1, s1) (m2, s2) = (m, s1 exp(m1 - m) + s2 exp(m2 - m)), m = max(m1, m2)
Monoid maxAndSum(Graph& g) {
  return {[&g](UOp x, std::span<const int32_t> axes) {
            const int32_t axis = axes[0];
            UOp maxima = stored(g, reduced(g, Op::Max, x, axis));
            // A part of nothing but -inf adds nothing, as it does to the sum over the row.
            UOp isNothing = g.alu(Op::Eq, {maxima, g.constant(identity(Op::Max, x.dtype()))});
            UOp base = g.where(isNothing, g.constant(Scalar::of(x.dtype(), 0)), maxima);
            return Monoid::Values{maxima, reduced(g, Op::Add, expOf(g, x, alongAxis(g, base, x, axis)), axis)};
          },
          [&g](const Monoid::Values& parts, int32_t axis) {
            const UOp maxima = parts[0], max = reduced(g, Op::Max, maxima, axis);
            UOp scale = expOf(g, maxima, alongAxis(g, max, maxima, axis));
            return Monoid::Values{max, reduced(g, Op::Add, g.alu(Op::Mul, {parts[1], scale}), axis)};
          }};
}

/// The same maximum, and a sum that differs in its rounding.
Monoid::Values rowInParts(Graph& g, const ExpSum& e, int64_t parts) {
  const int32_t termAxis = e.axis + 1;
  return reducedInParts(g, maxAndSum(g), inParts(g, e.x, e.axis, parts), {&termAxis, 1}, e.axis);
}

}  // namespace

UOp rescaleLongSums(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine, Decisions& decisions) {
  if (numerics == Numerics::Strict) return sink;
  Graph& g = *model.graph;
  std::set<uint32_t> whole;              // ids of sums that stay in one part
  for (bool changed = true; changed;) {  // what changes is built anew: the rows after it are looked for there
    changed = false;
    const std::vector<UOp> order = toposort(sink);
    NodeDecisions decide(model, order, decisions);
    for (UOp n : order) {
      const std::optional<ExpSum> e = whole.contains(n.id()) ? std::nullopt : expSumOf(g, n);
      if (!e) continue;
      const int64_t usual = partsOf(*e, machine);
      const auto cost = [&](int64_t parts) { return std::optional(costOf(*e, parts, machine)); };
      const int64_t parts = decideParts(decide, "rescale", n, e->x.dim(e->axis), usual, "no cache holds the row",
                                        usual > 1 ? cost : CostOfParts());
      if (parts <= 1) {
        whole.insert(n.id());
        continue;
      }
      const UOp from[] = {e->max, e->sum};
      sink = substitute(g, sink, from, rowInParts(g, *e, parts)), changed = true;
      break;
    }
  }
  return sink;
}

}  // namespace svod
