#include "tensor/movement.h"

#include <algorithm>

#include "ir/dim_facts.h"
#include "ir/shape.h"
#include "symbolic/symbolic.h"

namespace svod {

UOp flatten(Graph& g, std::span<const UOp> index, std::span<const UOp> dims) {
  UOp flat = g.index(0);
  for (size_t i = 0; i < index.size(); ++i) flat = addIndices(g, mulIndices(g, flat, dims[i]), index[i]);
  return simplify(g, flat);
}

IndexList unflatten(Graph& g, UOp flat, std::span<const UOp> dims) {
  IndexList index(dims.size(), g.index(0));
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i].isConst(1)) continue;
    bool first = std::all_of(dims.begin(), dims.begin() + static_cast<long>(i), [](UOp d) { return d.isConst(1); });
    index[i] = first ? flat : simplify(g, g.alu(Op::Floormod, {flat, dims[i]}));
    if (first) break;
    flat = simplify(g, g.alu(Op::Floordiv, {flat, dims[i]}));
  }
  return index;
}

namespace {

// A product of dims as a number times symbolic factors, so that n*4 and 4*n compare equal.
struct Product {
  int64_t factor = 1;
  std::vector<UOp> symbols;  // sorted by structure

  void multiply(UOp dim) {
    if (dim.isConst()) {
      factor *= dim.constInt();
    } else if (dim.op() == Op::Mul) {
      multiply(dim.src(0));
      multiply(dim.src(1));
    } else {
      symbols.insert(std::upper_bound(symbols.begin(), symbols.end(), dim, structuralLess), dim);
    }
  }
  bool operator==(const Product&) const = default;
};

bool inside(const Product& part, const Product& whole) {
  return part.factor <= whole.factor && part.symbols.size() <= whole.symbols.size();
}

// One axis each, of sizes that are equal although they are written differently.
bool isOneSize(std::span<const UOp> in, std::span<const UOp> out, const AxisGroup& g) {
  if (g.inEnd - g.inBegin != 1 || g.outEnd - g.outBegin != 1) return false;
  UOp a = in[g.inBegin], b = out[g.outBegin];
  return !a.isConst() && !b.isConst() && alwaysEqual(a, b);
}

}  // namespace

std::vector<AxisGroup> matchAxes(std::span<const UOp> in, std::span<const UOp> out) {
  std::vector<AxisGroup> groups;
  size_t i = 0, o = 0;
  while (i < in.size() || o < out.size()) {
    AxisGroup group{i, i, o, o};
    Product a, b;
    if (i < in.size()) a.multiply(in[i++]);
    if (o < out.size()) b.multiply(out[o++]);
    while (!(a == b) && !isOneSize(in, out, {group.inBegin, i, group.outBegin, o}) &&
           (i < in.size() || o < out.size())) {
      bool growIn = i < in.size() && (o == out.size() || (inside(a, b) && !inside(b, a)) ||
                                      (inside(a, b) == inside(b, a) && a.factor < b.factor));
      if (growIn || o == out.size()) {
        a.multiply(in[i++]);
      } else {
        b.multiply(out[o++]);
      }
    }
    group.inEnd = i, group.outEnd = o;
    groups.push_back(group);
  }
  return groups;
}

namespace {

IndexList moveReshape(Graph& g, std::span<const UOp> in, std::span<const UOp> out, std::span<const UOp> index) {
  IndexList moved(in.size(), g.index(0));
  for (const AxisGroup& group : matchAxes(in, out)) {
    size_t ins = group.inEnd - group.inBegin, outs = group.outEnd - group.outBegin;
    if (ins == 0) continue;
    UOp flat = flatten(g, index.subspan(group.outBegin, outs), out.subspan(group.outBegin, outs));
    IndexList part = unflatten(g, flat, in.subspan(group.inBegin, ins));
    std::copy(part.begin(), part.end(), moved.begin() + static_cast<long>(group.inBegin));
  }
  return moved;
}

void require(Graph& g, UOp condition, UOp& gate) {
  condition = simplify(g, condition);
  if (condition.isConst(1)) return;
  gate = gate ? simplify(g, g.alu(Op::And, {gate, condition})) : condition;
}

// Source index and read condition of one padded axis.
UOp movePad(Graph& g, UOp size, UOp before, UOp after, UOp index, UOp& gate) {
  if (!before.isConst(0)) require(g, g.alu(Op::Le, {before, index}), gate);
  if (!after.isConst(0)) require(g, g.alu(Op::Lt, {index, addIndices(g, before, size)}), gate);
  return simplify(g, subIndices(g, index, before));
}

// Of one axis that is cut. Variables and counters may take the part beyond the source: no element is there.
UOp moveShrink(Graph& g, UOp dim, UOp offset, UOp size, UOp index, UOp& gate) {
  UOp moved = simplify(g, addIndices(g, index, offset));
  UOp slack = simplify(g, subIndices(g, subIndices(g, dim, offset), size));
  if (offset.bounds().min < 0) require(g, g.alu(Op::Le, {g.index(0), moved}), gate);
  if (slack.bounds().min < 0 && lessEqualDims(g.index(0), slack) != Truth::Always)
    require(g, g.alu(Op::Lt, {moved, dim}), gate);
  return moved;
}

}  // namespace

MovedIndex moveIndex(Graph& g, UOp node, std::span<const UOp> dims, std::span<const UOp> operands,
                     std::span<const UOp> index) {
  MovedIndex moved{IndexList(index.begin(), index.end()), UOp()};
  size_t rank = dims.size();
  switch (node.op()) {
    case Op::Reshape: moved.index = moveReshape(g, dims, operands, index); break;
    case Op::Expand:
      for (size_t i = 0; i < rank; ++i)
        if (dims[i].isConst(1)) moved.index[i] = g.index(0);
      break;
    case Op::Permute: {
      std::span<const int32_t> order = node.argAs<AxesArg>().axes;
      for (size_t i = 0; i < rank; ++i) moved.index[order[i]] = index[i];
      break;
    }
    case Op::Flip:
      for (int32_t axis : node.argAs<AxesArg>().axes)
        moved.index[axis] = simplify(g, subIndices(g, subIndices(g, dims[axis], g.index(1)), index[axis]));
      break;
    case Op::Shrink:  // operands: offsets.., sizes..
      for (size_t i = 0; i < rank; ++i)
        moved.index[i] = moveShrink(g, dims[i], operands[i], operands[rank + i], index[i], moved.gate);
      break;
    case Op::Pad:  // operands: fill, before.., after..
      for (size_t i = 0; i < rank; ++i)
        moved.index[i] = movePad(g, dims[i], operands[1 + i], operands[1 + rank + i], index[i], moved.gate);
      break;
    default: break;
  }
  return moved;
}

}  // namespace svod
