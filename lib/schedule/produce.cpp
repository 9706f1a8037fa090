// The items of one producer: kernels, copies and calls.
#include <algorithm>

#include "ir/custom.h"
#include "ir/shape.h"
#include "schedule/add_kernel.h"
#include "schedule/scheduler.h"
#include "symbolic/guard_loads.h"
#include "symbolic/symbolic.h"
#include "tensor/packing.h"

namespace svod {

namespace {

/// Params whose loads all simplified away leave the argument list; the others are renumbered in order.
UOp dropUnusedParams(Graph& g, UOp sink, std::vector<int>& args) {
  std::vector<UOp> paramOf(args.size()), from, to;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Param) paramOf[n.argAs<SlotArg>().slot] = n;
  std::vector<int> kept;
  for (size_t slot = 0; slot < args.size(); ++slot) {
    if (!paramOf[slot]) continue;
    from.push_back(paramOf[slot]);
    to.push_back(
        g.make(Op::Param, from.back().dtype(), from.back().src(), SlotArg{static_cast<uint32_t>(kept.size())}));
    kept.push_back(args[slot]);
  }
  if (kept.size() == args.size()) return sink;
  args = std::move(kept);
  return substitute(g, sink, from, to);
}

/// Whether every store stands in a loop that cannot run.
bool storesNothing(UOp sink) {
  auto isEmpty = [](UOp range) { return range.src(0).bounds().max <= 0; };
  return std::ranges::all_of(
      sink.src(), [&](UOp end) { return end.op() == Op::End && std::ranges::any_of(end.src().subspan(1), isEmpty); });
}

}  // namespace

void Scheduler::addLaunch(Producer& p, std::unique_ptr<Graph> graph, UOp sink, KernelBuilder& builder, UOp named) {
  sink = guardLoads(*graph, simplify(*graph, sink));
  if (storesNothing(sink)) return;
  for (UOp r : builder.reads())
    if (std::find(p.reads.begin(), p.reads.end(), r) == p.reads.end()) p.reads.push_back(r);
  ScheduleItem item{ItemKind::Launch, 0, {}, builder.args(), {}, {}, labelOf(named)};
  sink = dropUnusedParams(*graph, sink, item.args);
  markAccesses(item, sink);
  item.kernel = addKernel(schedule_, kernelOf_, std::move(graph), sink, item.label);
  p.items.push_back(std::move(item));
}

void Scheduler::addCopy(Producer& p, UOp from, int to, UOp named) {
  p.reads.push_back(from);
  ScheduleItem item{ItemKind::Copy, -1, {}, {to, storageOf(from)->buffer}, {true, false}, {false, true},
                    labelOf(named)};
  item.elements = counters_.asVariables(numel(*model_.graph, from.shape()));
  p.items.push_back(std::move(item));
}

void Scheduler::produceElements(UOp node, const Storage& storage, UOp valueNode) {
  Producer& p = producer(node);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(valueNode.shape(), AxisType::Loop);
  UOp at = builder.addressIn(storage, index);
  UOp v = valueNode == node ? builder.computedValue(node, index, UOp()) : builder.value(valueNode, index, UOp());
  UOp sink = builder.finish(builder.storeAt(at, v), index);
  addLaunch(p, std::move(graph), sink, builder, valueNode);
}

void Scheduler::produceValue(UOp node) { produceElements(node, *storageOf(node), node); }

void Scheduler::produceSnapshot(UOp state) {
  int temporary = addTemporary(state);
  Producer& p = producer(state);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(state.shape(), AxisType::Loop);
  UOp value = builder.value(state, index, UOp());
  Storage to = layoutOf(state, temporary, false);
  UOp sink = builder.finish(builder.storeAt(builder.addressIn(to, index), value), index);
  addLaunch(p, std::move(graph), sink, builder, state);
  storage_.insert_or_assign(state.id(), to);
}

// The value has storage of its own, and both sides hold their elements in one order, in bytes of their own without
// gaps.
bool Scheduler::isPlainCopy(UOp store) const {
  UOp target = store.src(0), value = store.src(1);
  const Storage *from = storageOf(skipReshapes(value)), *to = storageOf(target);
  return from && to && !from->packed && !to->packed && std::ranges::equal(value.shape(), target.shape()) &&
         isGapless(*from) && isGapless(*to);
}

void Scheduler::produceStore(UOp store) {
  if (writtenInPlace_.contains(store.id())) return;
  UOp target = store.src(0), value = store.src(1);
  Producer& p = producer(store);
  if (isEmpty(value)) {  // nothing to do, but a call may have to come before what follows
    if (UOp call = skipReshapes(value); call.op() == Op::Custom) p.reads.push_back(call);
    return;
  }
  // The target is written in its own storage even when its old content is read from a snapshot.
  UOp base = belowMovement(target);
  auto slot = static_cast<int>(bufferBelow(base).argAs<SlotArg>().slot);
  if (isPlainCopy(store)) return addCopy(p, skipReshapes(value), slot, store);

  Storage own = portLayout(base, slot);
  if (own.packed) return producePacked(p, own);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(value.shape(), AxisType::Loop);
  auto [address, gate] = builder.place(target, index, own);
  UOp v = builder.value(value, index, UOp());
  auto readsElsewhere = [at = address](UOp n) {  // an element of the target that another iteration writes
    return n.op() == Op::Load && n.src(0).src(0) == at.src(0) && !(n.src(0) == at);
  };
  std::vector<UOp> below = toposort(v);
  if (std::none_of(below.begin(), below.end(), readsElsewhere)) {
    UOp sink = builder.finish(builder.storeAt(address, v, gate), index);
    return addLaunch(p, std::move(graph), sink, builder, store);
  }
  produceThroughTemporary(p, own);
}

// An output whose elements share bytes: the kernel runs over the bytes.
void Scheduler::producePacked(Producer& p, const Storage& own) {
  UOp bytes = packedBytes(*model_.graph, p.node.src(1));
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(bytes.shape(), AxisType::Loop);
  Storage to{bytes, own.buffer, {bytes.shape().begin(), bytes.shape().end()}};
  UOp at = builder.addressIn(to, index);
  UOp sink = builder.finish(builder.storeAt(at, builder.value(bytes, index, UOp())), index);
  addLaunch(p, std::move(graph), sink, builder, p.node);
}

// Computes the whole value before the first element of the target is overwritten.
void Scheduler::produceThroughTemporary(Producer& p, const Storage& own) {
  UOp target = p.node.src(0), value = p.node.src(1);
  Storage through = layoutOf(value, addTemporary(value), false);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(value.shape(), AxisType::Loop);
  UOp at = builder.addressIn(through, index);
  UOp v = builder.value(value, index, UOp());
  UOp sink = builder.finish(builder.storeAt(at, v), index);
  addLaunch(p, std::move(graph), sink, builder, p.node);

  std::vector<UOp> reads = p.reads;  // what the second kernel reads is the temporary
  auto second = std::make_unique<Graph>();
  KernelBuilder copier(*second, counters_, {}, [&](UOp n) { return n == value ? &through : storageOf(n); });
  index = copier.openRanges(value.shape(), AxisType::Loop);
  auto [place, gate] = copier.place(target, index, own);
  v = copier.value(value, index, UOp());
  sink = copier.finish(copier.storeAt(place, v, gate), index);
  addLaunch(p, std::move(second), sink, copier, p.node);
  p.reads = std::move(reads);
}

void Scheduler::produceScatter(UOp node) {
  const Storage& storage = *storageOf(node);
  produceElements(node, storage, node.src(0));
  Producer& p = producers_.back();
  if (isEmpty(node.src(node.srcCount() - 1))) return;
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  UOp updates = node.src(node.srcCount() - 1), gate;
  IndexList loop = builder.openRanges(updates.shape(), AxisType::Serial), at;
  for (size_t axis = 0; axis < node.rank(); ++axis) {
    UOp source = node.src(1 + axis);
    UOp raw = builder.value(source, source.rank() == 0 ? IndexList{} : loop, UOp());
    DataIndex d = dataIndex(*graph, simplify(*graph, raw), builder.import(node.shape()[axis]));
    at.push_back(d.value);
    if (d.inside) gate = gate ? graph->alu(Op::And, {gate, d.inside}) : d.inside;
  }
  UOp address = builder.addressIn(storage, at), v = builder.value(updates, loop, UOp());
  Op combine = node.argAs<ReduceArg>().op;
  if (combine != Op::Store) {
    // The old content is read anew in every iteration, also when the address is the same in all.
    std::vector<UOp> inside{address.src(0)};
    for (UOp r : loop)
      if (r.op() == Op::Range) inside.push_back(r);
    UOp flat = address.src(1), zero = graph->constant(Scalar::of(address.dtype(), 0));
    UOp old = graph->indexInto(graph->make(Op::After, address.dtype(), inside), {&flat, 1});
    old = gate ? graph->load(old, zero, gate) : graph->load(old);
    if (isPacked(node.dtype())) old = elementOf(*graph, old, node.dtype());
    v = graph->alu(combine, {old, v});
  }
  UOp sink = builder.finish(builder.storeAt(address, v, gate), loop);
  addLaunch(p, std::move(graph), sink, builder, node);
  std::erase(p.reads, node);
}

// A buffer with the elements of `value` and nothing between them, packed ones in a byte each.
int Scheduler::denseBuffer(Producer& p, UOp value) {
  const Storage* storage = storageOf(value);
  if (storage == nullptr) return addTemporary(value);  // no elements
  if (isGapless(*storage) && !storage->packed) {
    p.reads.push_back(value);
    return storage->buffer;
  }
  Storage dense = layoutOf(value, addTemporary(value), true);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(value.shape(), AxisType::Loop);
  UOp at = builder.addressIn(dense, index), v = builder.value(value, index, UOp());
  UOp sink = builder.finish(builder.storeAt(at, v), index);
  addLaunch(p, std::move(graph), sink, builder, value);
  return dense.buffer;
}

void Scheduler::produceHostCall(UOp node) {
  const auto& arg = node.argAs<CustomArg>();
  Producer& p = producer(node);
  ScheduleItem item{ItemKind::HostCall, -1, std::string(arg.name), {}, {}, {}, labelOf(node)};
  auto add = [&](UOp value, int buffer, bool isResult) {
    item.args.push_back(buffer);
    item.writes.push_back(isResult);
    item.reads.push_back(!isResult);
    item.shapes.emplace_back();
    for (UOp dim : value.shape()) item.shapes.back().push_back(counters_.asVariables(dim));
  };
  add(node, isEmpty(node) ? addTemporary(node) : storageOf(node)->buffer, true);
  for (UOp s : node.src().first(static_cast<size_t>(arg.inputs))) {
    if (s.dtype() == DType::Index) {
      item.values.push_back(counters_.asVariables(s));
    } else {
      add(s, denseBuffer(p, s), false);
    }
  }
  for (UOp content : contentsBeforeCall(node.src(), arg)) p.reads.push_back(content);
  p.items.push_back(std::move(item));
}

}  // namespace svod
