#include "schedule/scatter.h"

#include <algorithm>

#include "symbolic/symbolic.h"
#include "tensor/packing.h"

namespace svod {

namespace {

/// What stands at `address`, read anew in every iteration, also when the address is the same in all.
UOp oldContent(Graph& g, UOp address, std::span<const UOp> loops, UOp gate, DType dtype) {
  std::vector<UOp> inside{address.src(0)};
  for (UOp r : loops)
    if (r.op() == Op::Range) inside.push_back(r);
  UOp flat = address.src(1), zero = g.constant(Scalar::of(address.dtype(), 0));
  UOp old = g.indexInto(g.make(Op::After, address.dtype(), inside), {&flat, 1});
  old = gate ? g.load(old, zero, gate) : g.load(old);
  return isPacked(dtype) ? elementOf(g, old, dtype) : old;
}

/// Whether iterations of `loop` write to different elements, whatever the other loops count: it is the position along
/// an axis.
bool isPosition(Graph& g, UOp loop, std::span<const UOp> at) {
  return std::ranges::any_of(at, [&](UOp index) { return simplify(g, index) == loop; });
}

/// Loops whose iterations never write to one element may run in any order.
UOp withFreeLoops(Graph& g, UOp sink, std::span<const UOp> loops, std::span<const UOp> at, bool isDistinct) {
  std::vector<UOp> from, to;
  for (UOp r : loops) {
    if (r.op() != Op::Range || !(isDistinct || isPosition(g, r, at))) continue;
    from.push_back(r);
    to.push_back(g.range(r.src(0), r.argAs<AxisArg>().id, AxisType::Loop));
  }
  return substitute(g, sink, from, to);
}

}  // namespace

UOp scatterUpdates(Graph& g, KernelBuilder& builder, UOp scatter, const Storage& storage) {
  UOp updates = updatesOf(scatter), gate;
  IndexList loops = builder.openRanges(updates.shape(), AxisType::Serial), at;
  for (size_t axis = 0; axis < scatter.rank(); ++axis) {
    UOp source = scatter.src(1 + axis);
    UOp raw = builder.value(source, source.rank() == 0 ? IndexList{} : loops, UOp());
    DataIndex d = dataIndex(g, simplify(g, raw), builder.memory().import(scatter.shape()[axis]));
    at.push_back(d.value);
    if (d.inside) gate = gate ? g.alu(Op::And, {gate, d.inside}) : d.inside;
  }
  UOp address = builder.memory().addressIn(storage, at), v = builder.value(updates, loops, UOp());
  const auto& [combine, distinct] = scatter.argAs<ReduceArg>();
  if (combine != Op::Store) v = g.alu(combine, {oldContent(g, address, loops, gate, scatter.dtype()), v});
  UOp sink = builder.finish(builder.memory().storeAt(address, v, gate), loops);
  if (isPacked(scatter.dtype())) return sink;  // neighbours share a byte
  return withFreeLoops(g, sink, loops, at, !distinct.empty());
}

}  // namespace svod
