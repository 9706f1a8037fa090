#include "schedule/scheduler.h"

#include <algorithm>

#include "ir/custom.h"
#include "ir/shape.h"
#include "tensor/packing.h"

namespace svod {

Scheduler::Scheduler(Model& model, UOp sink, const Fusion& fusion)
    : model_(model), counters_(model), nodes_(toposort(sink)), loops_(nodes_), labels_(labelsOf(model, nodes_)),
      fusion_(fusion) {}

Result<Schedule> Scheduler::run() {
  for (;;) {
    SVOD_CHECK(produceAll());
    size_t before = snapshots_.size();
    SVOD_TRY(schedule_.items, order());
    if (snapshots_.size() == before) return std::move(schedule_);
  }
}

namespace {
/// It is made whatever its result is.
bool isKeptCall(UOp n) { return n.op() == Op::Custom && !contentsBeforeCall(n.src(), n.argAs<CustomArg>()).empty(); }
}  // namespace

Status Scheduler::produceAll() {
  schedule_ = {};
  storage_.clear(), writtenInPlace_.clear(), kernelOf_.clear(), producers_.clear();
  assignStorage();
  for (UOp n : nodes_) {
    if (n.op() == Op::Store) {
      produceStore(n);
    } else if (isStorage(n)) {
      if (snapshots_.contains(n.id()) && !isEmpty(n)) produceSnapshot(n);
    } else if (isMaterialized(n) && (!isEmpty(n) || isKeptCall(n))) {
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

Storage Scheduler::portLayout(UOp node, int port) const {
  bool isShared = !isInternal(model_.ports[static_cast<size_t>(port)].kind);  // states keep their layout between runs
  Storage layout = layoutOf(node, port, isShared);
  layout.packed = isShared && isPacked(node.dtype());
  return layout;
}

bool isGapless(const Storage& storage) {
  size_t axis = 0;
  while (axis < storage.dims.size() && storage.dims[axis].isConst(1)) ++axis;
  std::span<const UOp> shape = storage.node.shape();
  return axis >= shape.size() || std::ranges::equal(std::span(storage.dims).subspan(axis + 1), shape.subspan(axis + 1));
}

void Scheduler::addStorage(UOp node, int buffer, bool dense) {
  storage_.insert_or_assign(node.id(), layoutOf(node, buffer, dense));
}

int Scheduler::addTemporary(UOp node) {
  schedule_.buffers.push_back({storedDType(node.dtype()), node.maxNumel(), -1, labelOf(node)});
  return static_cast<int>(schedule_.buffers.size()) - 1;
}

/// Values that host functions see: these know nothing of the layouts of kernels.
std::set<uint32_t> Scheduler::hostValues() const {
  std::set<uint32_t> ids;
  for (UOp n : nodes_) {
    if (n.op() != Op::Custom) continue;
    ids.insert(n.id());
    for (UOp s : n.src().first(static_cast<size_t>(n.argAs<CustomArg>().inputs))) ids.insert(s.id());
  }
  return ids;
}

void Scheduler::assignStorage() {
  const std::set<uint32_t> dense = hostValues();
  for (size_t i = 0; i < model_.ports.size(); ++i) {
    UOp b = model_.ports[i].buffer;
    DType dtype = isInternal(model_.ports[i].kind) ? storedDType(b.dtype()) : b.dtype();
    schedule_.buffers.push_back({dtype, b.maxNumel(), static_cast<int>(i), labelOf(b)});
  }
  // A materialized value that is stored whole into an output lives there.
  for (UOp n : nodes_) {
    if (n.op() != Op::Store || n.src(0).op() != Op::Buffer) continue;
    auto slot = n.src(0).argAs<SlotArg>().slot;
    UOp value = skipReshapes(n.src(1));
    if (model_.ports[slot].kind != PortKind::Output) continue;
    if (!isMaterialized(value) || storage_.contains(value.id()) || isEmpty(value)) continue;
    if (isPacked(value.dtype())) continue;  // its elements have a byte each
    addStorage(value, static_cast<int>(slot), true);
    writtenInPlace_.insert(n.id());
  }
  for (UOp n : nodes_) {
    if (isStorage(n)) {
      auto slot = static_cast<int>(bufferBelow(n).argAs<SlotArg>().slot);
      storage_.insert_or_assign(n.id(), portLayout(n, slot));
    } else if (isMaterialized(n) && !storage_.contains(n.id()) && !isEmpty(n)) {
      addStorage(n, addTemporary(n), dense.contains(n.id()));
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

KernelBuilder Scheduler::builderFor(Graph& graph) {
  return {graph, counters_, fusion_.rows, [this](UOp n) { return storageOf(n); }};
}

}  // namespace svod
