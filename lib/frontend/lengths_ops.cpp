// One rule per op that is not computed element by element: what it is where a run computes sizes of it.
#include <algorithm>

#include "frontend/builder.h"
#include "frontend/lengths.h"
#include "ir/scalar.h"
#include "ir/shape.h"

namespace svod {

namespace {

std::vector<UOp> nodesOf(const Dims& dims) {
  std::vector<UOp> all;
  for (const Dim& d : dims) all.push_back(d.node());
  return all;
}

}  // namespace

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
  const auto& [op, distinct] = node.argAs<ReduceArg>();
  return scatter(op, value(node.src(0)), indices, updates, !distinct.empty());
}

}  // namespace svod
