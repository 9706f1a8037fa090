#include "tensor/tile_loops.h"

#include <algorithm>

namespace svod {

namespace {

constexpr const char* kPort = "winograd tiles";
constexpr const char* kCounter = "winograd_block";

}  // namespace

TileLoops::TileLoops(Model& model, std::span<const UOp> nodes) : model_(model), g_(*model.graph) {
  for (UOp n : nodes) {
    if (n.op() == Op::Buffer) ports_.insert(n.argAs<SlotArg>().slot);
    if (n.op() == Op::Range) loops_.insert(n.argAs<AxisArg>().id);
  }
}

TileBlock TileLoops::open(int64_t all, int64_t rows) {
  std::string name = kCounter;
  while (std::ranges::any_of(model_.variables, [&](UOp v) { return v.argAs<VarArg>().name == name; })) name += "_";
  uint32_t id = 0;
  while (id < model_.loops.size() && (loops_.contains(id) || model_.loops[id] != name)) ++id;
  if (id == model_.loops.size()) model_.loops.push_back(name);
  loops_.insert(id);
  UOp counter = g_.range(g_.index((all + rows - 1) / rows), id, AxisType::Loop);
  UOp first = g_.alu(Op::Mul, {counter, g_.index(rows)});
  if (all % rows != 0) first = g_.alu(Op::Min, {first, g_.index(all - rows)});
  return {counter, first, rows};
}

UOp TileLoops::buffer(DType dtype, std::span<const UOp> dims) {
  uint32_t slot = 0;
  for (; slot < model_.ports.size(); ++slot) {
    const ModelPort& port = model_.ports[slot];
    if (port.kind == PortKind::Temporary && port.name == kPort && port.buffer.dtype() == dtype &&
        std::ranges::equal(port.buffer.shape(), dims) && !ports_.contains(slot))
      break;
  }
  if (slot == model_.ports.size())
    model_.ports.push_back({PortKind::Temporary, kPort, g_.buffer(dtype, dims, {slot, Space::Global}), {}});
  ports_.insert(slot);
  return model_.ports[slot].buffer;
}

UOp TileLoops::close(const TileBlock& block, UOp part, size_t axis, UOp all, const std::string& label) {
  std::vector<UOp> sizes(part.shape().begin(), part.shape().end()), dims = sizes, offsets(sizes.size(), g_.index(0));
  dims[axis] = all, offsets[axis] = block.first;
  UOp whole = buffer(part.dtype(), dims);
  UOp target = g_.shrink(g_.make(Op::After, whole.dtype(), {whole, block.counter}), offsets, sizes);
  UOp store = g_.make(Op::Store, DType::Void, {target, part});
  model_.labels.try_emplace(store.id(), label);
  ends_.push_back(g_.make(Op::End, DType::Void, {g_.make(Op::Group, DType::Void, {store}), block.counter}));
  return g_.make(Op::After, whole.dtype(), {whole, ends_.back()});
}

UOp TileLoops::withLoops(UOp sink) const {
  if (ends_.empty()) return sink;
  std::vector<UOp> effects;
  std::set<uint32_t> seen;
  for (UOp effect : sink.src())
    for (UOp n : toposort(effect))
      if ((n == effect || std::ranges::find(ends_, n) != ends_.end()) && seen.insert(n.id()).second)
        effects.push_back(n);
  return g_.make(Op::Sink, DType::Void, effects);
}

}  // namespace svod
