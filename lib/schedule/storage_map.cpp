#include "schedule/storage_map.h"

#include "ir/shape.h"
#include "schedule/fuse_uses.h"
#include "tensor/loops.h"
#include "tensor/nodes.h"
#include "tensor/packing.h"

namespace svod {

namespace {

/// Buffers that the graph declares, whose layout is ours.
bool isInternal(PortKind kind) { return kind == PortKind::State || kind == PortKind::Temporary; }

/// From the first element to the last one; at least one, so that there is an address.
UOp spanOf(Graph& g, const Storage& storage) {
  UOp span = g.index(1), stride = g.index(1);
  for (size_t axis = storage.dims.size(); axis-- > 0;) {
    span = addDims(g, span, mulDims(g, subDims(g, storage.node.shape()[axis], g.index(1)), stride));
    stride = mulDims(g, stride, storage.dims[axis]);
  }
  return maxDims(g, span, g.index(1));
}

}  // namespace

bool isGapless(const Storage& storage) {
  size_t axis = 0;
  while (axis < storage.dims.size() && storage.dims[axis].isConst(1)) ++axis;
  std::span<const UOp> shape = storage.node.shape();
  return axis >= shape.size() || std::ranges::equal(std::span(storage.dims).subspan(axis + 1), shape.subspan(axis + 1));
}

StorageMap::StorageMap(const Model& model, std::span<const UOp> nodes, const Fusion& fusion, Schedule& schedule)
    : model_(model), fusion_(fusion), schedule_(schedule), labels_(model, nodes) {
  addPorts();
  addOutputs(nodes);
  addValues(nodes);
}

void StorageMap::addPorts() {
  for (size_t i = 0; i < model_.ports.size(); ++i) {
    UOp b = model_.ports[i].buffer;
    DType dtype = isInternal(model_.ports[i].kind) ? storedDType(b.dtype()) : b.dtype();
    schedule_.buffers.push_back({dtype, b.maxNumel(), static_cast<int>(i), labelOf(b)});
  }
}

/// A kept value of which all is stored into an output lives there.
void StorageMap::addOutputs(std::span<const UOp> nodes) {
  for (UOp n : nodes) {
    if (n.op() != Op::Store || n.src(0).op() != Op::Buffer) continue;
    auto slot = n.src(0).argAs<SlotArg>().slot;
    UOp value = skipReshapes(n.src(1));
    if (model_.ports[slot].kind != PortKind::Output) continue;
    if (!isKept(value) || storage_.contains(value.id()) || isEmpty(value)) continue;
    if (isPacked(value.dtype())) continue;  // its elements have a byte each
    Storage whole = denseAt(value, static_cast<int>(slot));
    whole.room = n.src(0).maxNumel();
    set(value, std::move(whole));
    writtenInPlace_.insert(n.id());
  }
}

void StorageMap::addValues(std::span<const UOp> nodes) {
  for (UOp n : nodes) {
    if (isStorage(n)) {
      auto slot = static_cast<int>(bufferBelow(n).argAs<SlotArg>().slot);
      set(n, portLayout(n, slot));
      if (model_.ports[static_cast<size_t>(slot)].kind == PortKind::Temporary)
        schedule_.buffers[static_cast<size_t>(slot)].elements = spanOf(*model_.graph, storage_.at(n.id()));
    } else if (isKept(n) && !storage_.contains(n.id()) && !isEmpty(n)) {
      set(n, temporary(n));
    }
  }
}

const Storage* StorageMap::of(UOp node) const {
  auto it = storage_.find(node.id());
  return it == storage_.end() ? nullptr : &it->second;
}

int StorageMap::addTemporary(UOp node) {
  schedule_.buffers.push_back({storedDType(node.dtype()), node.maxNumel(), -1, labelOf(node)});
  return static_cast<int>(schedule_.buffers.size()) - 1;
}

Storage StorageMap::temporary(UOp node) {
  Storage storage = denseAt(node, addTemporary(node));
  schedule_.buffers.back().elements = spanOf(*model_.graph, storage);
  return storage;
}

Storage StorageMap::denseAt(UOp node, int buffer) {
  return {node, buffer, std::vector<UOp>(node.shape().begin(), node.shape().end())};
}

Storage StorageMap::portLayout(UOp node, int port) const {
  const PortKind kind = model_.ports[static_cast<size_t>(port)].kind;
  Storage layout = denseAt(node, port);
  if (kind == PortKind::State)
    for (UOp& dim : layout.dims) dim = model_.graph->index(dim.bounds().max);
  layout.packed = !isInternal(kind) && isPacked(node.dtype());
  return layout;
}

}  // namespace svod
