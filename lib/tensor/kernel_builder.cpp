#include "tensor/kernel_builder.h"

#include <algorithm>

#include "ir/shape.h"
#include "symbolic/symbolic.h"
#include "tensor/packing.h"

namespace svod {

UOp KernelBuilder::import(UOp dim) { return g_.clone(counters_.asVariables(dim)); }

IndexList KernelBuilder::imported(std::span<const UOp> dims) {
  IndexList list;
  for (UOp d : dims) list.push_back(import(d));
  return list;
}

IndexList KernelBuilder::openRanges(std::span<const UOp> shape, AxisType type) {
  IndexList ranges;
  for (UOp d : shape)
    ranges.push_back(d.isConst(1) ? g_.index(0) : g_.range(simplify(g_, import(d)), nextRange_++, type));
  return ranges;
}

UOp KernelBuilder::param(const Storage& storage) {
  auto it = std::find(args_.begin(), args_.end(), storage.buffer);
  auto slot = static_cast<uint32_t>(it - args_.begin());
  if (it == args_.end()) args_.push_back(storage.buffer);
  UOp elements = numel(g_, imported(storage.dims));
  int64_t each = storage.packed ? elementsPerByte(storage.node.dtype()) : 1;
  if (each > 1) elements = g_.alu(Op::Floordiv, {g_.alu(Op::Add, {elements, g_.index(each - 1)}), g_.index(each)});
  elements = simplify(g_, elements);
  int64_t most = 1;
  for (UOp d : storage.dims) most *= std::max<int64_t>(d.bounds().max, 0);
  most = (most + each - 1) / each;
  // The dims bound their product more tightly than the sum it is multiplied out to: h * w - w for (h - 1) * w.
  if (elements.bounds().max > most) elements = g_.alu(Op::Min, {elements, g_.index(most)});
  return g_.make(Op::Param, storedDType(storage.node.dtype()), {elements}, SlotArg{slot});
}

UOp KernelBuilder::addressIn(const Storage& storage, std::span<const UOp> index) {
  UOp flat = flatten(g_, index, imported(storage.dims));
  return g_.indexInto(param(storage), {&flat, 1});
}

KernelBuilder::GatedAddress KernelBuilder::addressOf(UOp target, std::span<const UOp> index, const Storage& base) {
  IndexList at(index.begin(), index.end());
  UOp gate;
  for (; target != base.node; target = target.src(0)) {
    MovedIndex m = moveIndex(g_, target, imported(target.src(0).shape()), imported(target.src().subspan(1)), at);
    at = std::move(m.index);
    if (m.gate) gate = gate ? simplify(g_, g_.alu(Op::And, {gate, m.gate})) : m.gate;
  }
  return {addressIn(base, at), gate};
}

UOp KernelBuilder::storeAt(UOp address, UOp value, UOp gate) {
  if (isPacked(value.dtype())) value = codeOf(g_, value);
  std::vector<UOp> src{address, value};
  if (gate) src.push_back(gate);
  return g_.make(Op::Store, DType::Void, src);
}

UOp KernelBuilder::loadAt(UOp address, UOp gate) {
  if (!gate) return g_.load(address);
  UOp flat = simplifyUnder(g_, address.src(1), gate);
  address = g_.indexInto(address.src(0), {&flat, 1});
  return g_.load(address, g_.constant(Scalar::of(address.dtype(), 0)), gate);
}

UOp KernelBuilder::load(const Storage& storage, std::span<const UOp> index, UOp gate) {
  if (std::find(reads_.begin(), reads_.end(), storage.node) == reads_.end()) reads_.push_back(storage.node);
  DType dtype = storage.node.dtype();
  UOp at = addressIn(storage, index);
  if (!isPacked(dtype)) return loadAt(at, gate);
  if (!storage.packed) return elementOf(g_, loadAt(at, gate), dtype);
  UOp each = g_.index(elementsPerByte(dtype)), flat = at.src(1);
  UOp byte = simplify(g_, g_.alu(Op::Floordiv, {flat, each}));
  UOp shift = simplify(g_, g_.alu(Op::Mul, {g_.alu(Op::Floormod, {flat, each}), g_.index(info(dtype).bits)}));
  UOp code = loadAt(g_.indexInto(at.src(0), {&byte, 1}), gate);
  return elementOf(g_, g_.alu(Op::Shr, {code, g_.cast(shift, DType::U8)}), dtype);
}

UOp KernelBuilder::value(UOp node, std::span<const UOp> index, UOp gate) {
  if (const Storage* storage = storedAt_(node)) return load(*storage, index, gate);
  auto row = rows_.find(node.id());
  return row == rows_.end() ? computedValue(node, index, gate) : rowElement(node, row->second, index, gate);
}

UOp KernelBuilder::rowElement(UOp node, const std::vector<int>& axes, std::span<const UOp> index, UOp gate) {
  IndexList at, inner(index.begin(), index.end());
  std::vector<int> swept;
  for (int axis : axes)
    if (!node.shape()[static_cast<size_t>(axis)].isConst(1)) swept.push_back(axis);  // others are no loops
  for (int axis : swept) at.push_back(index[static_cast<size_t>(axis)]);
  const auto isInner = [&](UOp i) { return i.op() == Op::Range && gate.dependsOn(i); };
  if (gate && std::ranges::any_of(at, isInner)) return computedValue(node, index, gate);
  std::vector<uint32_t> key{node.id(), gate ? gate.id() + 1 : 0};
  for (size_t i = 0; i < index.size(); ++i)
    if (std::ranges::find(axes, static_cast<int>(i)) == axes.end()) key.push_back(index[i].id());
  auto it = filled_.find(key);
  if (it == filled_.end()) {
    Row row;
    for (int axis : swept) {
      UOp extent = node.shape()[static_cast<size_t>(axis)];
      row.ranges.push_back(openRanges({&extent, 1}, AxisType::Loop)[0]);
      inner[static_cast<size_t>(axis)] = row.ranges.back();
    }
    UOp value = computedValue(node, inner, gate);
    row.fill = g_.fill(value, row.ranges, nextBuffer_++);
    it = filled_.emplace(std::move(key), std::move(row)).first;
  }
  return g_.load(g_.indexRowMajor(it->second.fill, it->second.ranges, at));
}

UOp KernelBuilder::computedValue(UOp node, std::span<const UOp> index, UOp gate) {
  if (node.rank() == 0) index = {};
  if (node.maxNumel() == 0) return g_.constant(Scalar::of(node.dtype(), 0));  // no element is ever read
  std::vector<uint32_t> key{node.id(), gate ? gate.id() + 1 : 0};
  for (UOp i : index) key.push_back(i.id());
  if (auto it = memo_.find(key); it != memo_.end()) return it->second;
  UOp result;
  switch (node.op()) {
    case Op::Const:
    case Op::Var:
    case Op::Range: result = import(node); break;
    case Op::Contiguous:
    case Op::Copy: result = value(node.src(0), index, gate); break;
    case Op::Iota: result = g_.cast(index[0], node.dtype()); break;
    case Op::Reduce: result = reduced(node, index, gate); break;
    case Op::Gather: result = gathered(node, index, gate); break;
    case Op::Stack: result = stacked(node, index, gate); break;
    default: result = isMovement(node.op()) ? moved(node, index, gate) : elementwise(node, index, gate); break;
  }
  memo_.emplace(std::move(key), result);
  return result;
}

UOp KernelBuilder::elementwise(UOp node, std::span<const UOp> index, UOp gate) {
  std::vector<UOp> src;
  for (UOp s : node.src()) src.push_back(value(s, s.rank() == 0 ? std::span<const UOp>{} : index, gate));
  return g_.withSrc(node, src);
}

UOp KernelBuilder::moved(UOp node, std::span<const UOp> index, UOp gate) {
  UOp source = node.src(0);
  IndexList operands;
  if (node.op() != Op::Permute && node.op() != Op::Flip)
    for (UOp s : node.src().subspan(1)) operands.push_back(s.dtype() == DType::Index ? import(s) : UOp());
  MovedIndex m = moveIndex(g_, node, imported(source.shape()), operands, index);
  if (!m.gate) return value(source, m.index, gate);
  UOp inside = gate ? simplify(g_, g_.alu(Op::And, {gate, m.gate})) : m.gate;
  UOp fill = node.op() == Op::Pad ? value(node.src(1), {}, gate) : g_.constant(Scalar::of(node.dtype(), 0));
  if (inside.isConst(0)) return fill;
  for (UOp& i : m.index) i = simplifyUnder(g_, i, inside);
  UOp v = value(source, m.index, inside);
  if (v.op() == Op::Load && v.srcCount() == 3 && v.src(2) == inside) return g_.load(v.src(0), fill, inside);
  return g_.where(m.gate, v, fill);
}

UOp KernelBuilder::reduced(UOp node, std::span<const UOp> index, UOp gate) {
  const auto& arg = node.argAs<ReduceArg>();
  std::span<const UOp> shape = node.src(0).shape();
  IndexList inner;
  std::vector<UOp> ranges;
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (std::find(arg.axes.begin(), arg.axes.end(), static_cast<int32_t>(i)) == arg.axes.end()) {
      inner.push_back(index[next++]);
      continue;
    }
    if (shape[i].bounds().max <= 0) return g_.constant(identity(arg.op, node.dtype()));
    inner.push_back(openRanges({&shape[i], 1}, AxisType::Reduce)[0]);
    if (inner.back().op() == Op::Range) ranges.push_back(inner.back());
  }
  UOp v = value(node.src(0), inner, gate);
  if (!ranges.empty()) return g_.reduceRanges(arg.op, v, ranges);
  // One element: the sum still starts from 0, which makes -0 a 0.
  bool startShows = arg.op == Op::Add && isFloat(node.dtype());
  return startShows ? g_.alu(Op::Add, {v, g_.constant(identity(arg.op, node.dtype()))}) : v;
}

DataIndex dataIndex(Graph& g, UOp value, UOp extent) {
  UOp index = g.cast(value, DType::Index);
  UOp inside;
  if (index.bounds().min < 0) inside = g.alu(Op::Le, {g.index(0), index});
  if (!extent.isConst() || index.bounds().max >= extent.constInt()) {
    UOp below = g.alu(Op::Lt, {index, extent});
    inside = inside ? g.alu(Op::And, {inside, below}) : below;
  }
  return {index, inside};
}

UOp KernelBuilder::gathered(UOp node, std::span<const UOp> index, UOp gate) {
  UOp data = node.src(0), inside = gate, checks;
  IndexList at;
  for (size_t axis = 0; axis < data.rank(); ++axis) {
    UOp source = node.src(1 + axis);
    UOp raw = value(source, source.rank() == 0 ? std::span<const UOp>{} : index, gate);
    DataIndex d = dataIndex(g_, simplify(g_, raw), import(data.shape()[axis]));
    at.push_back(d.value);
    if (!d.inside) continue;
    checks = checks ? g_.alu(Op::And, {checks, d.inside}) : d.inside;
    inside = inside ? g_.alu(Op::And, {inside, d.inside}) : d.inside;
  }
  UOp v = value(data, at, inside);
  if (!checks || (v.op() == Op::Load && v.srcCount() == 3 && v.src(2) == inside)) return v;
  return g_.where(checks, v, g_.constant(Scalar::of(node.dtype(), 0)));
}

UOp KernelBuilder::stacked(UOp node, std::span<const UOp> index, UOp gate) {
  UOp result = value(node.src(node.srcCount() - 1), {}, gate);
  for (size_t i = node.srcCount() - 1; i-- > 0;)
    result =
        g_.where(g_.alu(Op::Eq, {index[0], g_.index(static_cast<int64_t>(i))}), value(node.src(i), {}, gate), result);
  return result;
}

UOp KernelBuilder::finish(UOp store, std::span<const UOp> ranges) {
  std::vector<UOp> src{store};
  for (UOp r : ranges)
    if (r.op() == Op::Range) src.push_back(r);
  return g_.make(Op::Sink, DType::Void, {g_.make(Op::End, DType::Void, src)});
}

}  // namespace svod
