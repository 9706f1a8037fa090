#include "schedule/produce.h"

#include <algorithm>

#include "ir/custom.h"
#include "ir/shape.h"
#include "schedule/add_kernel.h"
#include "schedule/scatter.h"
#include "symbolic/guard_loads.h"
#include "symbolic/symbolic.h"
#include "tensor/nodes.h"
#include "tensor/packing.h"

namespace svod {

namespace {

/// Params whose loads all simplified away leave the argument list; the others are renumbered in order.
UOp dropUnusedParams(Graph& g, UOp sink, std::vector<int>& args) {
  std::vector<UOp> paramOf(args.size()), from, to;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Param) paramOf[n.argAs<SlotArg>().slot] = n;
  std::vector<int> used;
  for (size_t slot = 0; slot < args.size(); ++slot) {
    if (!paramOf[slot]) continue;
    from.push_back(paramOf[slot]);
    to.push_back(
        g.make(Op::Param, from.back().dtype(), from.back().src(), SlotArg{static_cast<uint32_t>(used.size())}));
    used.push_back(args[slot]);
  }
  if (used.size() == args.size()) return sink;
  args = std::move(used);
  return substitute(g, sink, from, to);
}

/// It is made whatever its result is.
bool isKeptCall(UOp n) { return n.op() == Op::Custom && !contentsBeforeCall(n.src(), n.argAs<CustomArg>()).empty(); }

/// The value has storage of its own, and both sides hold their elements in one order, in bytes of their own without
/// gaps.
bool isPlainCopy(const StorageMap& storage, UOp target, UOp value) {
  const Storage *from = storage.of(skipReshapes(value)), *to = storage.of(target);
  return from && to && !from->packed && !to->packed && std::ranges::equal(value.shape(), target.shape()) &&
         isGapless(*from) && isGapless(*to);
}

/// Ids of the buffers whose elements are read, or written in part. Calls only wait for the others.
std::set<uint32_t> buffersInUse(std::span<const UOp> nodes) {
  std::set<uint32_t> used;
  for (UOp n : nodes) {
    if (n.op() == Op::After) continue;
    const size_t begin = n.op() == Op::Store ? 1 : 0;
    const size_t waits = n.op() == Op::Custom ? contentsBeforeCall(n.src(), n.argAs<CustomArg>()).size() : 0;
    for (size_t i = begin; i + waits < n.src().size(); i++)
      if (isStorage(n.src(i))) used.insert(bufferBelow(n.src(i)).id());
  }
  return used;
}

}  // namespace

std::vector<Producer> ItemMaker::run(std::span<const UOp> nodes, const std::set<uint32_t>& snapshots) && {
  inUse_ = buffersInUse(nodes);
  for (UOp n : nodes) {
    if (n.op() == Op::Store) {
      produceStore(n);
    } else if (isStorage(n)) {
      if (snapshots.contains(n.id()) && !isEmpty(n)) produceSnapshot(n);
    } else if (storage_.isKept(n) && (!isEmpty(n) || isKeptCall(n))) {
      n.op() == Op::Scatter  ? produceScatter(n)
      : n.op() == Op::Custom ? produceHostCall(n)
      : n.op() == Op::Copy   ? produceTransfer(n)
                             : produceElements(n, *storage_.of(n), n);
    }
  }
  return std::move(producers_);
}

bool ItemMaker::isNeverRead(UOp content) const {
  const UOp buffer = bufferBelow(content);
  return model_.ports[buffer.argAs<SlotArg>().slot].kind == PortKind::Temporary && !inUse_.contains(buffer.id());
}

Producer& ItemMaker::producer(UOp node) {
  producers_.push_back({node, {}, {}});
  return producers_.back();
}

KernelBuilder ItemMaker::builderFor(Graph& graph) {
  return {graph, counters_, fusion_.rows, [this](UOp n) { return storage_.of(n); }};
}

void ItemMaker::addElements(Producer& p, UOp value, const Storage& to, UOp named) {
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(value.shape(), AxisType::Loop);
  const bool isComputed = value == p.node && !isStorage(value);
  UOp at = builder.memory().addressIn(to, index);
  UOp v = isComputed ? builder.computedValue(value, index, UOp()) : builder.value(value, index, UOp());
  addLaunch(p, std::move(graph), builder.finish(builder.memory().storeAt(at, v), index), builder, named);
}

void ItemMaker::addLaunch(Producer& p, std::unique_ptr<Graph> graph, UOp sink, KernelBuilder& builder, UOp named) {
  sink = guardLoads(*graph, simplify(*graph, sink));
  if (std::ranges::all_of(sink.src(), isIdle)) return;
  for (UOp r : builder.memory().reads())
    if (std::find(p.reads.begin(), p.reads.end(), r) == p.reads.end()) p.reads.push_back(r);
  ScheduleItem item{ItemKind::Launch, 0, {}, builder.memory().args(), {}, {}, storage_.labelOf(named)};
  sink = dropUnusedParams(*graph, sink, item.args);
  markAccesses(item, sink);
  item.kernel = addKernel(schedule_, kernelOf_, std::move(graph), sink, item.label);
  p.items.push_back(std::move(item));
}

void ItemMaker::addCopy(Producer& p, UOp from, int to, UOp named) {
  p.reads.push_back(from);
  ScheduleItem item{ItemKind::Copy,         -1, {}, {to, storage_.of(from)->buffer}, {true, false}, {false, true},
                    storage_.labelOf(named)};
  item.elements = counters_.asVariables(numel(*model_.graph, from.shape()));
  p.items.push_back(std::move(item));
}

void ItemMaker::produceElements(UOp node, const Storage& to, UOp value) {
  addElements(producer(node), value, to, value);
}

void ItemMaker::produceSnapshot(UOp state) {
  Storage to = storage_.temporary(state);
  produceElements(state, to, state);
  storage_.set(state, to);
}

/// With one device there is nothing to transfer, and a copy is a kernel like any other.
void ItemMaker::produceTransfer(UOp copy) {
  const Storage& to = *storage_.of(copy);
  if (model_.devices.size() > 1 && isPlainCopy(storage_, copy, copy.src(0)))
    addCopy(producer(copy), skipReshapes(copy.src(0)), to.buffer, copy);
  else
    produceElements(copy, to, copy);
  for (ScheduleItem& item : producers_.back().items)
    if (model_.devices.size() > 1) item.device = copy.argAs<NameArg>().name;
}

void ItemMaker::produceStore(UOp store) {
  if (storage_.isWrittenInPlace(store)) return;
  UOp target = store.src(0), value = store.src(1), base = belowMovement(target);
  auto slot = static_cast<int>(bufferBelow(base).argAs<SlotArg>().slot);
  Producer& p = producer(store);
  const UOp call = skipReshapes(value);
  const bool isOfCall = call.op() == Op::Custom && storage_.isKept(call);
  if (isEmpty(value) || (isOfCall && isNeverRead(base))) {  // nothing to do, but what follows may wait for the call
    if (call.op() == Op::Custom) p.reads.push_back(call);
    return;
  }
  // The target is written in its own storage even when its old content is read from a snapshot.
  if (isPlainCopy(storage_, target, value)) return addCopy(p, skipReshapes(value), slot, store);

  Storage own = storage_.portLayout(base, slot);
  if (own.packed) return producePacked(p, own);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  IndexList index = builder.openRanges(value.shape(), AxisType::Loop);
  auto [address, gate] = builder.memory().addressOf(target, index, own);
  UOp v = builder.value(value, index, UOp());
  auto readsElsewhere = [at = address](UOp n) {  // an element of the target that another iteration writes
    return n.op() == Op::Load && n.src(0).src(0) == at.src(0) && !(n.src(0) == at);
  };
  std::vector<UOp> below = toposort(v);
  if (std::none_of(below.begin(), below.end(), readsElsewhere)) {
    UOp sink = builder.finish(builder.memory().storeAt(address, v, gate), index);
    return addLaunch(p, std::move(graph), sink, builder, store);
  }
  produceThroughTemporary(p, own);
}

// An output whose elements share bytes: the kernel runs over the bytes.
void ItemMaker::producePacked(Producer& p, const Storage& own) {
  UOp bytes = packedBytes(*model_.graph, p.node.src(1));
  addElements(p, bytes, {bytes, own.buffer, {bytes.shape().begin(), bytes.shape().end()}}, p.node);
}

// Computes the whole value before the first element of the target is overwritten.
void ItemMaker::produceThroughTemporary(Producer& p, const Storage& own) {
  UOp target = p.node.src(0), value = p.node.src(1);
  Storage through = storage_.temporary(value);
  addElements(p, value, through, p.node);

  std::vector<UOp> reads = p.reads;  // what the second kernel reads is the temporary
  auto second = std::make_unique<Graph>();
  KernelBuilder copier(*second, counters_, {}, [&](UOp n) { return n == value ? &through : storage_.of(n); });
  IndexList index = copier.openRanges(value.shape(), AxisType::Loop);
  auto [place, gate] = copier.memory().addressOf(target, index, own);
  UOp v = copier.value(value, index, UOp());
  UOp sink = copier.finish(copier.memory().storeAt(place, v, gate), index);
  addLaunch(p, std::move(second), sink, copier, p.node);
  p.reads = std::move(reads);
}

void ItemMaker::produceScatter(UOp node) {
  const Storage& storage = *storage_.of(node);
  produceElements(node, storage, node.src(0));
  Producer& p = producers_.back();
  if (isEmpty(updatesOf(node))) return;
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder = builderFor(*graph);
  UOp sink = scatterUpdates(*graph, builder, node, storage);
  addLaunch(p, std::move(graph), sink, builder, node);
  std::erase(p.reads, node);
}

// A buffer with the elements of `value` and nothing between them, packed ones in a byte each.
int ItemMaker::denseBuffer(Producer& p, UOp value) {
  const Storage* storage = storage_.of(value);
  if (storage == nullptr) return storage_.addTemporary(value);  // no elements
  if (isGapless(*storage) && !storage->packed) {
    p.reads.push_back(value);
    return storage->buffer;
  }
  Storage dense = storage_.temporary(value);
  addElements(p, value, dense, value);
  return dense.buffer;
}

void ItemMaker::produceHostCall(UOp node) {
  const auto& arg = node.argAs<CustomArg>();
  Producer& p = producer(node);
  ScheduleItem item{ItemKind::HostCall, -1, std::string(arg.name), {}, {}, {}, storage_.labelOf(node)};
  auto add = [&](UOp value, int buffer, bool isResult) {
    item.args.push_back(buffer);
    item.writes.push_back(isResult);
    item.reads.push_back(!isResult);
    item.shapes.emplace_back();
    for (UOp dim : value.shape()) item.shapes.back().push_back(counters_.asVariables(dim));
  };
  add(node, isEmpty(node) ? storage_.addTemporary(node) : storage_.of(node)->buffer, true);
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
