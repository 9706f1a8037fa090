#include "onnx/ops/append.h"

namespace svod {

namespace {

/// The state that `past` is the beginning of: a buffer nothing was stored in yet, as a whole or cut at its end.
UOp untouchedState(GraphBuilder& b, const Tensor& past) {
  UOp node = past.node();
  if (node.op() == Op::Shrink) node = node.src(0);
  if (node.op() != Op::Buffer || b.current(node) != node) return {};
  const uint32_t slot = node.argAs<SlotArg>().slot;
  const std::vector<ModelPort>& ports = b.model().ports;
  return slot < ports.size() && ports[slot].kind == PortKind::State ? node : UOp();
}

}  // namespace

Tensor appendedToState(GraphBuilder& b, const Tensor& past, const Tensor& fresh, int axis) {
  if (!past || !fresh || fresh.dtype() != past.dtype() || fresh.rank() != past.rank() || !b.counters().empty())
    return {};
  const UOp state = untouchedState(b, past);
  if (!state) return {};
  Dims none, at, all = past.dims();
  for (int i = 0; i < past.rank(); ++i) {
    if (i != axis && fresh.dim(i) != past.dim(i)) return {};
    none.add(b.dim(0)), at.add(i == axis ? past.dim(i) : b.dim(0));
  }
  all.set(axis, past.dim(axis) + fresh.dim(axis));
  const Tensor whole = b.wrap(state);
  if (!whole || all[axis].max() > whole.dim(axis).min()) return {};
  if (past.node() != state && shrink(whole, none, past.dims()).node() != past.node()) return {};
  b.assign(shrink(whole, at, fresh.dims()), fresh);
  return shrink(whole, none, all);
}

Tensor appended(const OnnxNode& n, const Tensor& past, const Tensor& fresh, int axis) {
  if (Tensor kept = appendedToState(n.b, past, fresh, axis)) return kept;
  return n.call("concat", {past, fresh}, {{"axis", axis}});
}

}  // namespace svod
