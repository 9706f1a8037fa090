#include "tensor/kernel_builder.h"

#include <algorithm>

#include "ir/shape.h"
#include "symbolic/symbolic.h"

namespace svod {

IndexList KernelBuilder::openRanges(std::span<const UOp> shape, AxisType type) {
  IndexList ranges;
  for (UOp d : shape)
    ranges.push_back(d.isConst(1) ? g_.index(0) : g_.range(simplify(g_, memory_.import(d)), nextRange_++, type));
  return ranges;
}

UOp KernelBuilder::value(UOp node, std::span<const UOp> index, UOp gate) {
  if (const Storage* storage = storedAt_(node)) return memory_.load(*storage, index, gate);
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
    case Op::Range: result = memory_.import(node); break;
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
    for (UOp s : node.src().subspan(1)) operands.push_back(s.dtype() == DType::Index ? memory_.import(s) : UOp());
  MovedIndex m = moveIndex(g_, node, memory_.imported(source.shape()), operands, index);
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
  const bool isCounter = index.op() == Op::Range && index.src(0) == extent;  // of the axis itself
  if (!isCounter && (!extent.isConst() || index.bounds().max >= extent.constInt())) {
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
    DataIndex d = dataIndex(g_, simplify(g_, raw), memory_.import(data.shape()[axis]));
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
