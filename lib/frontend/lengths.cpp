#include "frontend/lengths.h"

#include <algorithm>

#include "frontend/builder.h"
#include "ir/scalar.h"

namespace svod {

std::vector<const Length*> lengthsIn(const Lengths& lengths, UOp dim) {
  std::vector<const Length*> found;
  std::vector<UOp> all{dim};
  for (size_t i = 0; i < all.size(); ++i) {
    UOp n = all[i];
    if (n.op() == Op::Var)
      if (auto length = lengths.find(n.id()); length != lengths.end()) found.push_back(&length->second);
    for (UOp s : n.op() == Op::Range ? std::span<const UOp>() : n.src())
      if (std::ranges::find(all, s) == all.end()) all.push_back(s);
  }
  return found;
}

// --- Which nodes are concerned

bool Rooms::has(UOp dim) {
  auto [it, isNew] = has_.try_emplace(dim.id(), false);
  if (isNew) it->second = !lengthsIn(lengths_, dim).empty();
  return has_[dim.id()];
}

bool Rooms::hasAny(std::span<const UOp> dims) {
  return std::ranges::any_of(dims, [&](UOp d) { return has(d); });
}

bool Rooms::isInvolved(UOp node) {
  if (hasAny(node.shape())) return true;
  return std::ranges::any_of(node.src(), [&](UOp s) {
    return hasAny(s.shape()) || (s.dtype() == DType::Index && s.rank() == 0 && isMovement(node.op()) && has(s));
  });
}

bool Rooms::keeps(UOp node) const {
  auto known = known_.find(node.id());
  return known != known_.end() && known->second == node;
}

// What must be rebuilt before the node: its sources, the sizes in its dims, and for a length what it is in a
// run.
std::vector<UOp> Rooms::needs(UOp node) {
  std::vector<UOp> all(node.src().begin(), node.src().end());
  all.insert(all.end(), node.shape().begin(), node.shape().end());
  if (node.op() == Op::Var)
    if (auto length = lengths_.find(node.id()); length != lengths_.end()) {
      all.push_back(length->second.count);
      all.push_back(length->second.room.node());
    }
  return all;
}

// Without recursion: chains of ops can be long.
UOp Rooms::of(UOp root) {
  std::vector<UOp> stack{root};
  while (!stack.empty() && !b_.failed()) {
    UOp node = stack.back();
    if (known_.contains(node.id())) {
      stack.pop_back();
      continue;
    }
    size_t waiting = stack.size();
    for (UOp n : needs(node))
      if (!known_.contains(n.id())) stack.push_back(n);
    if (stack.size() > waiting) continue;
    stack.pop_back();
    UOp made = rebuilt(node);
    if (!made) break;
    known_.emplace(node.id(), made);
  }
  return b_.failed() ? UOp() : known_[root.id()];
}

// --- Sizes

// Over all values of the lengths, as expressions over everything else.
Rooms::Bounds Rooms::bounds(UOp dim) {
  Graph& g = b_.graph();
  if (!has(dim)) return {Dim(g, known_[dim.id()]), Dim(g, known_[dim.id()])};
  if (dim.op() == Op::Var) return {b_.dim(0), bounds(lengths_.at(dim.id()).room.node()).high};
  Bounds a = bounds(dim.src(0)), c = dim.srcCount() > 1 ? bounds(dim.src(1)) : Bounds();
  auto isNatural = [](const Bounds& x) { return x.low.min() >= 0; };
  switch (dim.op()) {
    case Op::Add: return {a.low + c.low, a.high + c.high};
    case Op::Sub: return {a.low - c.high, a.high - c.low};
    case Op::Neg: return {b_.dim(0) - a.high, b_.dim(0) - a.low};
    case Op::Max: return {larger(a.low, c.low), larger(a.high, c.high)};
    case Op::Min: return {smaller(a.low, c.low), smaller(a.high, c.high)};
    case Op::Mul:
      if (isNatural(a) && isNatural(c)) return {a.low * c.low, a.high * c.high};
      if (c.high.isConst() && c.low == c.high && c.high.constant() < 0) return {a.high * c.low, a.low * c.low};
      break;
    case Op::Floordiv:
    case Op::Cdiv:
      if (isNatural(a) && c.low.min() > 0) return {floordiv(a.low, c.high), floordiv(a.high, c.low)};
      break;
    case Op::Floormod:
    case Op::Cmod:
      if (isNatural(a) && c.low.min() > 0) return {b_.dim(0), smaller(a.high, c.high - 1)};
      break;
    default: break;
  }
  return {b_.dim(dim.bounds().min), b_.dim(dim.bounds().max)};
}

Dim Rooms::room(UOp dim) {
  Dim high = bounds(dim).high;
  if (!has(dim)) return high;
  if (high.isConst()) return b_.dim(std::clamp<int64_t>(high.constant(), 0, std::max<int64_t>(0, dim.bounds().max)));
  return b_.mayBeNegative(high.node()) ? larger(high, b_.dim(0)) : high;
}

Dims Rooms::rooms(std::span<const UOp> dims) {
  Dims all;
  for (UOp d : dims) all.add(room(d));
  return all;
}

Tensor Rooms::value(UOp node) { return b_.asIs(known_[node.id()]); }
Tensor Rooms::number(UOp dim) { return cast(value(dim), DType::I64); }

// 0, 1, .. along an axis, as i64.
Tensor Rooms::position(const Dims& rooms, int axis) {
  Tensor at = cast(b_.iota(rooms[axis]), DType::I64);
  for (int i = axis + 1; i < rooms.rank(); ++i) at = unsqueeze(at, -1);
  return at;
}

Tensor Rooms::isInside(const Dims& rooms, int axis, UOp dim) { return lt(position(rooms, axis), number(dim)); }

// x with other room behind its elements.
Tensor Rooms::fitted(Tensor x, const Dims& rooms) {
  for (int i = 0; x && i < rooms.rank(); ++i) {
    Dim more = rooms[i] - x.dim(i);
    if (more.is(0)) continue;
    if (more.max() > 0) {
      Dims none, after;
      for (int k = 0; k < x.rank(); ++k) none.add(b_.dim(0)), after.add(k == i ? larger(more, b_.dim(0)) : b_.dim(0));
      x = pad(x, none, after, cast(b_.literal(false), x.dtype()));
    }
    if (x && x.dim(i) != rooms[i]) x = narrow(x, i, b_.dim(0), rooms[i]);
  }
  return x;
}

// --- Nodes

namespace {

// The node of other sources. Counts are i64, where sizes are indices, and so is what is computed from them.
UOp remade(Graph& g, UOp node, std::vector<UOp> src) {
  bool isCounted = false, meets = isElementwise(node.op()) || node.op() == Op::Stack;
  for (size_t i = 0; i < src.size(); ++i) isCounted |= src[i].dtype() != node.src(i).dtype();
  if (!isCounted) return std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
  for (UOp& s : src)
    if (meets && s.dtype() == DType::Index)
      s = s.isConst() ? g.constant(Scalar::ofInt(DType::I64, s.constInt())) : g.cast(s, DType::I64);
  if (node.op() == Op::Cast && src[0].dtype() == node.dtype()) return src[0];
  bool isIndex = node.dtype() == DType::Index && (meets || src[0].dtype() == DType::I64);
  return g.make(node.op(), isIndex ? DType::I64 : node.dtype(), src, node.arg());
}

UOp refused(GraphBuilder& b, UOp custom) {
  b.fail(Diag::Unsupported, "a host function with " + describe(b.asIs(custom)) + " and a size that a run computes",
         "give it values of sizes that are known before");
  return {};
}

}  // namespace

UOp Rooms::rebuilt(UOp node) {
  if (node.op() == Op::Var) {
    auto length = lengths_.find(node.id());
    return length == lengths_.end() ? node : known_[length->second.count.id()];
  }
  if (node.op() == Op::Store && !checkTarget(node.src(0))) return {};
  if (isInvolved(node)) return lowered(node);
  std::vector<UOp> src;
  for (UOp s : node.src()) src.push_back(known_[s.id()]);
  // The condition of such a loop ends it in time.
  if (node.op() == Op::Range) src[0] = room(node.src(0)).node();
  bool isSize = node.op() == Op::Custom && !std::ranges::equal(src, node.src(), {}, &UOp::dtype, &UOp::dtype);
  if (isSize) return refused(b_, node);
  return remade(b_.graph(), node, std::move(src));
}

// A node whose room follows from that of its sources, or is its shape.
UOp Rooms::withRooms(UOp node) {
  std::vector<UOp> src;
  bool isShape = node.op() == Op::Buffer || node.op() == Op::Iota;
  for (size_t i = 0; i < node.srcCount(); ++i)
    src.push_back(isShape || (i > 0 && node.op() == Op::Expand) ? room(node.src(i)).node() : known_[node.src(i).id()]);
  return remade(b_.graph(), node, std::move(src));
}

UOp Rooms::lowered(UOp node) {
  Tensor made;
  switch (node.op()) {
    case Op::Reshape: made = reshaped(node); break;
    case Op::Pad: made = padded(node); break;
    case Op::Shrink: made = shrunk(node); break;
    case Op::Flip: made = flipped(node); break;
    case Op::Reduce: made = reduced(node); break;
    case Op::Gather: made = gathered(node); break;
    case Op::Scatter: made = scattered(node); break;
    case Op::Custom: return refused(b_, node);
    default: {
      if (!isElementwise(node.op())) return withRooms(node);
      made = elementwise(node);
    }
  }
  if (!made || b_.failed()) return {};
  if (node.rank() > 0) made = fitted(made, rooms(node.shape()));
  return made ? made.node() : UOp();
}

Tensor Rooms::elementwise(UOp node) {
  Dims dims = rooms(node.shape());
  std::vector<UOp> src;
  for (UOp s : node.src()) {
    Tensor x = s.rank() > 0 ? fitted(value(s), dims) : value(s);
    if (!x) return {};
    src.push_back(x.node());
  }
  return b_.asIs(remade(b_.graph(), node, std::move(src)));
}

// Where a store writes: whole axes, since what lies behind a length is written as well.
bool Rooms::checkTarget(UOp target) {
  bool isWhole = true;
  for (UOp view = target; view.op() != Op::Buffer; view = view.src(0)) {
    UOp made = known_[view.id()];
    isWhole &= made && made.op() == view.op();
    for (size_t i = 0; i < view.rank() && view.op() == Op::Shrink; ++i)
      isWhole &= view.shape()[i] == view.src(0).shape()[i] || (!has(view.shape()[i]) && !has(view.src(1 + i)));
  }
  if (!isWhole)
    b_.fail(Diag::Unsupported, "a store into " + describe(b_.asIs(target)) + ", a part whose size a run computes",
            "store the whole");
  return isWhole;
}

}  // namespace svod
