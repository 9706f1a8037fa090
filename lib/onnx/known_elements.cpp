// What ops make of known elements.
#include <algorithm>

#include "onnx/known_elements.h"
#include "onnx/size_arithmetic.h"

namespace svod {

namespace {

using Elements = std::vector<UOp>;

bool isKnown(UOp element) { return static_cast<bool>(element); }

// The constants of sources first..first+count-1, or nothing.
std::optional<std::vector<int64_t>> numbers(UOp node, size_t first, size_t count) {
  std::vector<int64_t> all;
  for (size_t i = first; i < first + count; ++i) {
    if (!node.src(i).isConst()) return std::nullopt;
    all.push_back(node.src(i).constInt());
  }
  return all;
}

// Calls f(position) for every position of a shape in row-major order.
template <class F>
void forEachPosition(const std::vector<int64_t>& dims, F f) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<int64_t> at(dims.size());
  for (int64_t i = 0; i < count; ++i) {
    f(at);
    for (size_t axis = dims.size(); axis-- > 0 && ++at[axis] == dims[axis];) at[axis] = 0;
  }
}

// The flat element at a position, or -1 outside.
int64_t flat(const std::vector<int64_t>& at, const std::vector<int64_t>& dims) {
  int64_t index = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (at[i] < 0 || at[i] >= dims[i]) return -1;
    index = index * dims[i] + at[i];
  }
  return index;
}

const UOp& element(const Elements& values, size_t i) { return values[values.size() == 1 ? 0 : i]; }

}  // namespace

// Expand, Permute, Shrink, Flip and Pad: where each element of the result comes from.
Elements KnownValues::moved(UOp node) {
  const Elements& from = known_[node.src(0).id()];
  const std::vector<int64_t> have = knownDims(node.src(0));
  const size_t rank = have.size();
  std::optional<std::vector<int64_t>> offsets = std::vector<int64_t>(rank, 0);
  if (node.op() == Op::Shrink) offsets = numbers(node, 1, rank);
  if (node.op() == Op::Pad) offsets = numbers(node, 2, rank);
  if (!offsets) return {};
  Elements all;
  forEachPosition(knownDims(node), [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> source = at;
    if (node.op() == Op::Expand)
      for (size_t i = 0; i < rank; ++i) source[i] = have[i] == 1 ? 0 : at[i];
    if (node.op() == Op::Permute)
      for (size_t i = 0; i < rank; ++i) source[node.argAs<AxesArg>().axes[i]] = at[i];
    if (node.op() == Op::Flip)
      for (int32_t axis : node.argAs<AxesArg>().axes) source[axis] = have[axis] - 1 - at[axis];
    for (size_t i = 0; i < rank; ++i) source[i] += node.op() == Op::Pad ? -(*offsets)[i] : (*offsets)[i];
    int64_t index = flat(source, have);
    if (index >= 0)
      all.push_back(from[static_cast<size_t>(index)]);
    else  // of a padding its fill, of a part 0
      all.push_back(node.op() == Op::Pad ? known_[node.src(1).id()][0]
                                         : b_.graph().constant(Scalar::of(node.dtype(), 0)));
  });
  return all;
}

Elements KnownValues::gathered(UOp node) {
  const Elements& from = known_[node.src(0).id()];
  const std::vector<int64_t> have = knownDims(node.src(0));
  if (from.empty()) return {};
  Elements all(static_cast<size_t>(knownCount(node)));
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<int64_t> at;
    for (size_t axis = 0; axis < have.size(); ++axis) {
      const Elements& index = known_[node.src(axis + 1).id()];
      if (index.empty() || !isConstant(element(index, i))) break;
      at.push_back(element(index, i).constInt());
    }
    if (at.size() != have.size()) continue;
    int64_t source = flat(at, have);
    all[i] = source >= 0 ? from[static_cast<size_t>(source)] : b_.graph().constant(Scalar::of(node.dtype(), 0));
  }
  return all;
}

Elements KnownValues::scattered(UOp node) {
  Elements all = known_[node.src(0).id()];
  const Op op = node.argAs<ReduceArg>().op;
  const std::vector<int64_t> dims = knownDims(node);
  const Elements& updates = known_[node.src(node.srcCount() - 1).id()];
  size_t count = updates.size();
  for (size_t axis = 0; axis < dims.size(); ++axis) count = std::max(count, known_[node.src(axis + 1).id()].size());
  for (size_t i = 0; i < count; ++i) {
    std::vector<int64_t> at;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      UOp index = element(known_[node.src(axis + 1).id()], i);
      if (!isConstant(index)) return {};
      at.push_back(index.constInt());
    }
    int64_t to = flat(at, dims);
    if (to < 0) continue;
    UOp& target = all[static_cast<size_t>(to)];
    UOp operands[] = {target, element(updates, i)};
    target = op == Op::Store ? operands[1] : scalar(op, node.dtype(), operands);
  }
  return all;
}

Elements KnownValues::reduced(UOp node) {
  const ReduceArg& arg = node.argAs<ReduceArg>();
  const Elements& from = known_[node.src(0).id()];
  const std::vector<int64_t> have = knownDims(node.src(0)), dims = knownDims(node);
  Elements all(static_cast<size_t>(knownCount(node)), b_.graph().constant(identity(arg.op, node.dtype())));
  size_t i = 0;
  forEachPosition(have, [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> kept;
    for (size_t axis = 0; axis < have.size(); ++axis)
      if (std::ranges::find(arg.axes, static_cast<int32_t>(axis)) == arg.axes.end()) kept.push_back(at[axis]);
    UOp& target = all[static_cast<size_t>(flat(kept, dims))];
    UOp operands[] = {target, from[i++]};
    // A symbolic element joins the identity as it is.
    bool isFirst = isKnown(target) && target.isConst() && target.constant() == identity(arg.op, node.dtype());
    target = isFirst && isKnown(operands[1]) && !operands[1].isConst() ? operands[1]
                                                                       : scalar(arg.op, node.dtype(), operands);
  });
  return all;
}

Elements KnownValues::elementwise(UOp node) {
  Elements all(static_cast<size_t>(knownCount(node)));
  std::vector<UOp> operands(node.srcCount());
  bool anyKnown = false;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t s = 0; s < operands.size(); ++s) {
      const Elements& from = known_[node.src(s).id()];
      operands[s] = from.empty() ? UOp() : element(from, i);
    }
    all[i] = scalar(node.op(), node.dtype(), operands);
    anyKnown |= isKnown(all[i]);
  }
  return anyKnown ? all : Elements();
}

UOp KnownValues::scalar(Op op, DType dtype, std::span<const UOp> operands) {
  return sizeArithmetic(b_.graph(), op, dtype, operands);
}

}  // namespace svod
