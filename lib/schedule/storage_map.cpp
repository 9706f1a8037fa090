#include "schedule/storage_map.h"

#include "schedule/fuse_uses.h"
#include "tensor/loops.h"
#include "tensor/nodes.h"
#include "tensor/packing.h"

namespace svod {

namespace {

/// Buffers of the instance keep one layout whatever their actual shape is.
bool isInternal(PortKind kind) { return kind == PortKind::State || kind == PortKind::Temporary; }

/// Values that host functions see: these know nothing of the layouts of kernels.
std::set<uint32_t> hostValues(std::span<const UOp> nodes) {
  std::set<uint32_t> ids;
  for (UOp n : nodes) {
    if (n.op() != Op::Custom) continue;
    ids.insert(n.id());
    for (UOp s : wholeOperands(n)) ids.insert(s.id());
  }
  return ids;
}

}  // namespace

bool isGapless(const Storage& storage) {
  size_t axis = 0;
  while (axis < storage.dims.size() && storage.dims[axis].isConst(1)) ++axis;
  std::span<const UOp> shape = storage.node.shape();
  return axis >= shape.size() || std::ranges::equal(std::span(storage.dims).subspan(axis + 1), shape.subspan(axis + 1));
}

StorageMap::StorageMap(const Model& model, std::span<const UOp> nodes, const Fusion& fusion, Schedule& schedule)
    : model_(model), fusion_(fusion), schedule_(schedule), labels_(labelsOf(model, nodes)) {
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
    Storage whole = layoutOf(value, static_cast<int>(slot), true);
    whole.room = n.src(0).maxNumel();
    set(value, std::move(whole));
    writtenInPlace_.insert(n.id());
  }
}

void StorageMap::addValues(std::span<const UOp> nodes) {
  const std::set<uint32_t> dense = hostValues(nodes);
  for (UOp n : nodes) {
    if (isStorage(n)) {
      auto slot = static_cast<int>(bufferBelow(n).argAs<SlotArg>().slot);
      set(n, portLayout(n, slot));
    } else if (isKept(n) && !storage_.contains(n.id()) && !isEmpty(n)) {
      set(n, layoutOf(n, addTemporary(n), dense.contains(n.id())));
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

Storage StorageMap::layoutOf(UOp node, int buffer, bool dense) const {
  std::vector<UOp> dims(node.shape().begin(), node.shape().end());
  if (!dense)
    for (UOp& d : dims) d = model_.graph->index(d.bounds().max);
  return {node, buffer, std::move(dims)};
}

Storage StorageMap::portLayout(UOp node, int port) const {
  bool isShared = !isInternal(model_.ports[static_cast<size_t>(port)].kind);  // states keep their layout between runs
  Storage layout = layoutOf(node, port, isShared);
  layout.packed = isShared && isPacked(node.dtype());
  return layout;
}

}  // namespace svod
