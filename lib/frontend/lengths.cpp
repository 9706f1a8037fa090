#include "frontend/lengths.h"

#include <algorithm>

#include "frontend/builder.h"
#include "ir/scalar.h"
#include "ir/shape.h"

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

std::vector<UOp> nodesOf(const Dims& dims) {
  std::vector<UOp> all;
  for (const Dim& d : dims) all.push_back(d.node());
  return all;
}

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

// Elements keep their places where only the outermost dim of a group of axes has a length. Groups are the
// shortest runs of axes, from the right, with as many elements before as after.
Tensor Rooms::reshaped(UOp node) {
  Graph& g = b_.graph();
  std::span<const UOp> from = node.src(0).shape(), to = node.shape();
  size_t i = from.size(), k = to.size();
  while (i > 0 || k > 0) {
    UOp have = g.index(1), want = g.index(1);
    size_t firstFrom = i, firstTo = k;
    do {
      bool takesFrom = firstFrom > 0 && (firstTo == 0 || have.bounds().max <= want.bounds().max);
      if (takesFrom)
        have = mulDims(g, from[--firstFrom], have);
      else
        want = mulDims(g, to[--firstTo], want);
    } while (have != want && (firstFrom > 0 || firstTo > 0));
    bool isSimple = have == want && !hasAny(from.subspan(std::min(firstFrom + 1, i), i - std::min(firstFrom + 1, i))) &&
                    !hasAny(to.subspan(std::min(firstTo + 1, k), k - std::min(firstTo + 1, k)));
    if (!isSimple) return renumbered(node);
    i = firstFrom, k = firstTo;
  }
  std::vector<UOp> rooms = nodesOf(this->rooms(to)), have = nodesOf(value(node.src(0)).dims());
  if (numel(g, rooms) != numel(g, have)) return renumbered(node);
  return b_.asIs(g.reshape(known_[node.src(0).id()], rooms));
}

// Each element of the result by its number in row-major order.
Tensor Rooms::renumbered(UOp node) {
  UOp x = node.src(0);
  Dims dims = rooms(node.shape());
  Tensor rest = b_.constant(Scalar::ofInt(DType::I64, 0));
  for (int i = 0; i < dims.rank(); ++i) rest = rest * number(node.shape()[static_cast<size_t>(i)]) + position(dims, i);
  if (x.rank() == 0) return b_.full(dims, value(x));
  std::vector<Tensor> positions(x.rank());
  for (size_t i = x.rank(); i-- > 0;) {
    Tensor extent = max(number(x.shape()[i]), 1);
    positions[i] = i == 0 ? rest : floormod(rest, extent);
    rest = floordiv(rest, extent);
  }
  return readAt(x, positions);
}

// The elements of a node at positions inside of it, one per axis.
Tensor Rooms::readAt(UOp x, const std::vector<Tensor>& positions) { return gather(value(x), positions); }

Tensor Rooms::padded(UOp node) {
  UOp x = node.src(0);
  const auto rank = static_cast<int>(x.rank());
  auto before = [&](int i) { return node.src(2 + static_cast<size_t>(i)); };
  auto after = [&](int i) { return node.src(2 + x.rank() + static_cast<size_t>(i)); };
  Dims dims = rooms(node.shape()), inner;
  Tensor fill = value(node.src(1)), isOwn, made = value(x);
  bool isShifted = false;
  std::vector<Tensor> positions;
  Dims front, behind;
  for (int i = 0; i < rank; ++i) {
    UOp size = x.shape()[static_cast<size_t>(i)];
    Tensor at = position(dims, i), from = number(before(i));
    bool isPlain = !has(before(i)) && !has(size);
    isShifted |= has(before(i));
    positions.push_back(at - from);
    front.add(has(before(i)) ? b_.dim(0) : Dim(b_.graph(), known_[before(i).id()]));
    behind.add(isPlain && !has(after(i)) ? Dim(b_.graph(), known_[after(i).id()]) : b_.dim(0));
    Tensor isHere;
    if (has(before(i))) isHere = ge(at, from);
    if (!after(i).isConst(0) && !(isPlain && !has(after(i)))) {
      Tensor ends = lt(at, from + number(size));
      isHere = isHere ? both(isHere, ends) : ends;
    }
    if (isHere) isOwn = isOwn ? both(isOwn, isHere) : isHere;
  }
  if (isShifted) {
    // Outside of the axis nothing is read, so only what lies between the elements and their room must be told
    // apart.
    Tensor isRead;
    for (int i = 0; i < rank; ++i) {
      if (has(before(i))) continue;
      Dim size(b_.graph(), known_[before(i).id()]);
      if (size.is(0) && after(i).isConst(0)) continue;
      Tensor at = positions[static_cast<size_t>(i)];
      Tensor isHere = both(ge(at, 0), lt(at, number(x.shape()[static_cast<size_t>(i)])));
      isRead = isRead ? both(isRead, isHere) : isHere;
    }
    if (isRead) isOwn = isOwn ? both(isOwn, isRead) : isRead;
    made = readAt(x, positions);
  } else {
    made = fitted(pad(made, front, behind, fill), dims);
  }
  return isOwn ? where(isOwn, made, fill) : made;
}

Tensor Rooms::shrunk(UOp node) {
  UOp x = node.src(0);
  Dims dims = rooms(node.shape()), offsets, reach;
  bool isShifted = false;
  for (size_t i = 0; i < x.rank(); ++i) {
    UOp offset = node.src(1 + i);
    isShifted |= has(offset);
    offsets.add(has(offset) ? b_.dim(0) : Dim(b_.graph(), known_[offset.id()]));
    Dim end = offsets[-1] + dims[static_cast<int>(i)], own = room(x.shape()[i]);
    reach.add(b_.mayBeNegative((own - end).node()) ? larger(own, end) : own);
  }
  if (!isShifted) return shrink(fitted(value(x), reach), offsets, dims);
  std::vector<Tensor> positions;
  for (size_t i = 0; i < x.rank(); ++i)
    positions.push_back(position(dims, static_cast<int>(i)) + number(node.src(1 + i)));
  return readAt(x, positions);
}

Tensor Rooms::flipped(UOp node) {
  UOp x = node.src(0);
  std::vector<Tensor> positions;
  bool isPlain = true;
  Dims dims = rooms(node.shape());
  for (size_t i = 0; i < x.rank(); ++i) {
    std::span<const int32_t> axes = node.argAs<AxesArg>().axes;
    bool isFlipped = std::ranges::find(axes, static_cast<int32_t>(i)) != axes.end();
    Tensor at = position(dims, static_cast<int>(i));
    positions.push_back(isFlipped ? number(x.shape()[i]) - 1 - at : at);
    isPlain &= !isFlipped || !has(x.shape()[i]);
  }
  if (isPlain) return b_.asIs(withRooms(node));
  return readAt(x, positions);
}

// What is behind the elements folds like nothing.
Tensor Rooms::reduced(UOp node) {
  UOp x = node.src(0);
  Tensor made = value(x), isOwn;
  const ReduceArg& arg = node.argAs<ReduceArg>();
  Dims dims = made.dims();
  for (int32_t axis : arg.axes) {
    UOp size = x.shape()[static_cast<size_t>(axis)];
    if (!has(size)) continue;
    Tensor isHere = isInside(dims, axis, size);
    isOwn = isOwn ? both(isOwn, isHere) : isHere;
  }
  if (isOwn) made = where(isOwn, made, b_.constant(identity(arg.op, made.dtype())));
  if (!made) return {};
  return b_.asIs(b_.graph().reduce(arg.op, made.node(), arg.axes));
}

namespace {

// The size that a node counts up to along some axis, or null.
UOp countedTo(UOp positions) {
  while (positions.op() == Op::Reshape || positions.op() == Op::Expand || positions.op() == Op::Permute ||
         (positions.op() == Op::Cast && isInt(positions.dtype())))
    positions = positions.src(0);
  return positions.op() == Op::Iota ? positions.src(0) : UOp();
}

}  // namespace

// Positions behind the elements of an axis are as far out as those behind its room.
Tensor Rooms::gathered(UOp node) {
  UOp x = node.src(0);
  Dims dims = rooms(node.shape());
  std::vector<Tensor> positions;
  for (size_t i = 0; i < x.rank(); ++i) {
    UOp size = x.shape()[i], index = node.src(1 + i);
    Tensor at = value(index);
    if (index.rank() > 0) at = fitted(at, dims);
    if (has(size) && countedTo(index) != size) {
      at = cast(at, DType::I64);
      at = where(lt(at, number(size)), at, -1);
    }
    positions.push_back(at);
  }
  return readAt(x, positions);
}

// Updates behind the elements do nothing.
Tensor Rooms::scattered(UOp node) {
  size_t rank = node.src(0).rank();
  UOp last = node.src(node.srcCount() - 1);
  std::span<const UOp> shape = last.rank() > 0 ? last.shape() : std::span<const UOp>();
  for (size_t i = 1; i <= rank && shape.empty(); ++i) shape = node.src(i).shape();
  Dims dims = rooms(shape);
  Tensor isOwn;
  for (int i = 0; i < dims.rank(); ++i) {
    if (!has(shape[static_cast<size_t>(i)])) continue;
    Tensor isHere = isInside(dims, i, shape[static_cast<size_t>(i)]);
    isOwn = isOwn ? both(isOwn, isHere) : isHere;
  }
  std::vector<Tensor> indices;
  for (size_t i = 0; i < rank; ++i) {
    UOp index = node.src(1 + i);
    Tensor at = index.rank() > 0 ? fitted(value(index), dims) : value(index);
    if (i == 0 && isOwn) at = where(isOwn, cast(at, DType::I64), -1);
    indices.push_back(at);
  }
  Tensor updates = last.rank() > 0 ? fitted(value(last), dims) : value(last);
  return scatter(node.argAs<ReduceArg>().op, value(node.src(0)), indices, updates);
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
