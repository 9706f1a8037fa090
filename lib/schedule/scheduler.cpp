#include "schedule/scheduler.h"

#include <algorithm>

#include "ir/shape.h"
#include "schedule/fuse.h"
#include "schedule/name.h"
#include "schedule/split_reduce.h"
#include "symbolic/symbolic.h"

namespace svod {

namespace {

bool isEmpty(UOp node) {
  return std::any_of(node.shape().begin(), node.shape().end(), [](UOp d) { return d.isConst(0); });
}

UOp skipReshapes(UOp node) {
  while (node.op() == Op::Reshape) node = node.src(0);
  return node;
}

// The storage a Store writes to, below any views.
UOp storageBelow(UOp target) {
  while (isMovement(target.op())) target = target.src(0);
  return target;
}

// Buffers of the instance keep one layout whatever their actual shape is.
bool isInternal(PortKind kind) { return kind == PortKind::State || kind == PortKind::Temporary; }

UOp bufferBelow(UOp state) {
  while (state.op() != Op::Buffer) state = state.src(0);
  return state;
}

}  // namespace

Scheduler::Scheduler(Model& model, const ScheduleOptions& options) : model_(model), options_(options), counters_(model) {}

Result<Schedule> Scheduler::run() {
  if (model_.sink.srcCount() == 0)
    return fail(Diag::NoOutputs, "the graph has no outputs and assigns no state", "declare at least one output");
  SVOD_TRY(UOp unrolled, unrollLoops(model_, model_.sink));
  UOp sink = splitReduces(*model_.graph, unrolled, options_.numerics);
  nodes_ = toposort(sink);
  loops_ = LoopTree(nodes_);
  nameNodes();
  materialized_ = chooseMaterialized(sink);
  for (;;) {
    SVOD_CHECK(produceAll());
    size_t before = snapshots_.size();
    SVOD_TRY(schedule_.items, order());
    if (snapshots_.size() == before) return std::move(schedule_);
  }
}

Status Scheduler::produceAll() {
  schedule_ = {};
  storage_.clear(), writtenInPlace_.clear(), kernelOf_.clear(), producers_.clear();
  assignStorage();
  for (UOp n : nodes_) {
    if (n.op() == Op::Store) {
      produceStore(n);
    } else if (isStorage(n)) {
      if (snapshots_.contains(n.id()) && !isEmpty(n)) produceSnapshot(n);
    } else if (n.id() < materialized_.size() && materialized_[n.id()] && !isEmpty(n)) {
      n.op() == Op::Scatter ? produceScatter(n) : n.op() == Op::Custom ? produceHostCall(n) : produceValue(n);
    }
  }
  return {};
}

Storage Scheduler::layoutOf(UOp node, int buffer, bool dense) const {
  std::vector<UOp> dims(node.shape().begin(), node.shape().end());
  if (!dense)
    for (UOp& d : dims) d = model_.graph->index(d.bounds().max);
  return {node, buffer, std::move(dims)};
}

void Scheduler::addStorage(UOp node, int buffer, bool dense) {
  storage_.insert_or_assign(node.id(), layoutOf(node, buffer, dense));
}

int Scheduler::addTemporary(UOp node) {
  schedule_.buffers.push_back({node.dtype(), node.maxNumel(), -1, labelOf(node)});
  return static_cast<int>(schedule_.buffers.size()) - 1;
}

void Scheduler::assignStorage() {
  for (size_t i = 0; i < model_.ports.size(); ++i) {
    UOp b = model_.ports[i].buffer;
    schedule_.buffers.push_back({b.dtype(), b.maxNumel(), static_cast<int>(i), model_.ports[i].name});
  }
  // A materialized value that is stored whole into an output lives there.
  for (UOp n : nodes_) {
    if (n.op() != Op::Store || n.src(0).op() != Op::Buffer) continue;
    auto slot = n.src(0).argAs<SlotArg>().slot;
    UOp value = skipReshapes(n.src(1));
    if (model_.ports[slot].kind != PortKind::Output || value.id() >= materialized_.size()) continue;
    if (!materialized_[value.id()] || storage_.contains(value.id()) || isEmpty(value)) continue;
    addStorage(value, static_cast<int>(slot), true);
    writtenInPlace_.insert(n.id());
  }
  for (UOp n : nodes_) {
    if (isStorage(n)) {
      auto slot = static_cast<int>(bufferBelow(n).argAs<SlotArg>().slot);
      addStorage(n, slot, !isInternal(model_.ports[slot].kind));  // states keep their layout between runs
    } else if (n.id() < materialized_.size() && materialized_[n.id()] && !storage_.contains(n.id()) && !isEmpty(n)) {
      addStorage(n, addTemporary(n), false);
    }
  }
}

const Storage* Scheduler::storageOf(UOp node) const {
  auto it = storage_.find(node.id());
  return it == storage_.end() ? nullptr : &it->second;
}

Producer& Scheduler::producer(UOp node) {
  producers_.push_back({node, {}, {}});
  return producers_.back();
}

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
    to.push_back(g.make(Op::Param, from.back().dtype(), from.back().src(), SlotArg{static_cast<uint32_t>(kept.size())}));
    kept.push_back(args[slot]);
  }
  if (kept.size() == args.size()) return sink;
  args = std::move(kept);
  return substitute(g, sink, from, to);
}

}  // namespace

void Scheduler::addLaunch(Producer& p, std::unique_ptr<Graph> graph, UOp sink, KernelBuilder& builder, UOp named) {
  sink = simplify(*graph, sink);
  for (UOp r : builder.reads())
    if (std::find(p.reads.begin(), p.reads.end(), r) == p.reads.end()) p.reads.push_back(r);
  ScheduleItem item{ItemKind::Launch, 0, {}, builder.args(), {}, {}, labelOf(named)};
  sink = dropUnusedParams(*graph, sink, item.args);
  item.writes.resize(item.args.size());
  item.reads.resize(item.args.size());
  for (UOp n : toposort(sink)) {
    if (n.op() == Op::Store) item.writes[svod::storageOf(n.src(0)).argAs<SlotArg>().slot] = true;
    if (n.op() == Op::Load) item.reads[svod::storageOf(n.src(0)).argAs<SlotArg>().slot] = true;
  }
  auto [it, isNew] = kernelOf_.try_emplace(sink.hash(), static_cast<int>(schedule_.kernels.size()));
  if (isNew) {
    std::string name = kernelName(sink, item.label);
    schedule_.kernels.push_back({std::move(graph), sink, std::move(name)});
  }
  item.kernel = it->second;
  p.items.push_back(std::move(item));
}

void Scheduler::addCopy(Producer& p, UOp from, int to, UOp named) {
  p.reads.push_back(from);
  p.items.push_back({ItemKind::Copy, -1, {}, {to, storageOf(from)->buffer}, {true, false}, {false, true}, labelOf(named)});
}

void Scheduler::produceElements(UOp node, const Storage& storage, UOp valueNode) {
  Producer& p = producer(node);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder(*graph, counters_, [this](UOp n) { return storageOf(n); });
  IndexList index = builder.openRanges(valueNode.shape(), AxisType::Loop);
  UOp at = builder.addressIn(storage, index);
  UOp v = valueNode == node ? builder.computedValue(node, index, UOp()) : builder.value(valueNode, index, UOp());
  UOp store = graph->make(Op::Store, DType::Void, {at, v});
  UOp sink = builder.finish(store, index);
  addLaunch(p, std::move(graph), sink, builder, valueNode);
}

void Scheduler::produceValue(UOp node) { produceElements(node, *storageOf(node), node); }

void Scheduler::produceSnapshot(UOp state) {
  int temporary = addTemporary(state);
  Producer& p = producer(state);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder(*graph, counters_, [this](UOp n) { return storageOf(n); });
  IndexList index = builder.openRanges(state.shape(), AxisType::Loop);
  UOp value = builder.value(state, index, UOp());
  Storage to = layoutOf(state, temporary, false);
  UOp store = graph->make(Op::Store, DType::Void, {builder.addressIn(to, index), value});
  UOp sink = builder.finish(store, index);
  addLaunch(p, std::move(graph), sink, builder, state);
  storage_.insert_or_assign(state.id(), to);
}

bool Scheduler::isPlainCopy(UOp value, UOp target) const {
  const Storage* from = storageOf(value);
  const Storage* to = storageOf(target);
  return from && to && !value.hasSymbolicShape() && !target.hasSymbolicShape() &&
         value.maxNumel() == target.maxNumel();
}

void Scheduler::produceStore(UOp store) {
  if (writtenInPlace_.contains(store.id())) return;
  UOp target = store.src(0), value = store.src(1);
  if (isEmpty(value)) return;
  Producer& p = producer(store);
  UOp whole = skipReshapes(value);
  // The target is written in its own storage even when its old content is read from a snapshot.
  UOp base = storageBelow(target);
  auto slot = static_cast<int>(bufferBelow(base).argAs<SlotArg>().slot);
  if (isPlainCopy(whole, target)) return addCopy(p, whole, slot, store);

  Storage own = layoutOf(base, slot, !isInternal(model_.ports[slot].kind));
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder(*graph, counters_, [this](UOp n) { return storageOf(n); });
  IndexList index = builder.openRanges(value.shape(), AxisType::Loop);
  UOp place = builder.address(target, index, own);
  UOp v = builder.value(value, index, UOp());
  auto readsElsewhere = [&](UOp n) {  // an element of the target that another iteration writes
    return n.op() == Op::Load && n.src(0).src(0) == place.src(0) && !(n.src(0) == place);
  };
  std::vector<UOp> below = toposort(v);
  if (std::none_of(below.begin(), below.end(), readsElsewhere)) {
    UOp sink = builder.finish(graph->make(Op::Store, DType::Void, {place, v}), index);
    return addLaunch(p, std::move(graph), sink, builder, store);
  }
  produceThroughTemporary(p, own);
}

// Computes the whole value before the first element of the target is overwritten.
void Scheduler::produceThroughTemporary(Producer& p, const Storage& own) {
  UOp target = p.node.src(0), value = p.node.src(1);
  Storage through = layoutOf(value, addTemporary(value), false);
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder(*graph, counters_, [this](UOp n) { return storageOf(n); });
  IndexList index = builder.openRanges(value.shape(), AxisType::Loop);
  UOp at = builder.addressIn(through, index);
  UOp v = builder.value(value, index, UOp());
  UOp sink = builder.finish(graph->make(Op::Store, DType::Void, {at, v}), index);
  addLaunch(p, std::move(graph), sink, builder, p.node);

  std::vector<UOp> reads = p.reads;  // what the second kernel reads is the temporary
  auto second = std::make_unique<Graph>();
  KernelBuilder copier(*second, counters_, [&](UOp n) { return n == value ? &through : storageOf(n); });
  index = copier.openRanges(value.shape(), AxisType::Loop);
  at = copier.address(target, index, own);
  v = copier.value(value, index, UOp());
  sink = copier.finish(second->make(Op::Store, DType::Void, {at, v}), index);
  addLaunch(p, std::move(second), sink, copier, p.node);
  p.reads = std::move(reads);
}

void Scheduler::produceScatter(UOp node) {
  const Storage& storage = *storageOf(node);
  produceElements(node, storage, node.src(0));
  Producer& p = producers_.back();
  if (isEmpty(node.src(node.srcCount() - 1))) return;
  auto graph = std::make_unique<Graph>();
  KernelBuilder builder(*graph, counters_, [this](UOp n) { return storageOf(n); });
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
    UOp flat = address.src(1), zero = graph->constant(Scalar::of(node.dtype(), 0));
    UOp old = graph->indexInto(graph->make(Op::After, node.dtype(), inside), {&flat, 1});
    v = graph->alu(combine, {gate ? graph->load(old, zero, gate) : graph->load(old), v});
  }
  UOp store = gate ? graph->make(Op::Store, DType::Void, {address, v, gate})
                   : graph->make(Op::Store, DType::Void, {address, v});
  UOp sink = builder.finish(store, loop);
  addLaunch(p, std::move(graph), sink, builder, node);
  std::erase(p.reads, node);
}

void Scheduler::produceHostCall(UOp node) {
  const auto& arg = node.argAs<CustomArg>();
  Producer& p = producer(node);
  ScheduleItem item{ItemKind::HostCall, -1, std::string(arg.name), {storageOf(node)->buffer}, {true}, {false}, labelOf(node)};
  for (UOp s : node.src().first(static_cast<size_t>(arg.inputs))) {
    item.args.push_back(storageOf(s)->buffer);
    item.writes.push_back(false);
    item.reads.push_back(true);
    p.reads.push_back(s);
  }
  p.items.push_back(std::move(item));
}

Result<Schedule> makeSchedule(Model& model, const ScheduleOptions& options) { return Scheduler(model, options).run(); }

}  // namespace svod
