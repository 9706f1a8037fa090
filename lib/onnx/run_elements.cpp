#include "onnx/run_elements.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/scalar.h"
#include "onnx/size_arithmetic.h"

namespace svod {

namespace {

using Position = std::vector<int64_t>;

constexpr int kDeepest = 200;       // ops above an element; what lies below is read as it is
constexpr int64_t kMostFolded = 8;  // elements of a reduction that become single ops

class RunElements {
 public:
  explicit RunElements(GraphBuilder& b) : b_(b) {}
  UOp of(UOp node, const Position& at, int depth);

 private:
  UOp read(UOp node, const Position& at);
  UOp combined(Op op, DType dtype, const std::vector<UOp>& operands);
  UOp elementwise(UOp node, const Position& at, int depth);
  UOp gathered(UOp node, const Position& at, int depth);
  UOp folded(UOp node, const Position& at, int depth);
  std::optional<Position> reshaped(UOp node, const Position& at) const;
  std::optional<Position> moved(UOp node, const Position& at) const;
  bool isInside(UOp node, const Position& at) const;

  GraphBuilder& b_;
};

// As an op that reads one element.
UOp RunElements::read(UOp node, const Position& at) {
  Tensor x = b_.asIs(node);
  if (at.empty()) return node;
  for (size_t i = 0; i < at.size() && x; ++i) x = narrow(x, static_cast<int>(i), b_.dim(at[i]), b_.dim(1));
  return x ? reshape(x, Dims()).node() : UOp();
}

UOp RunElements::combined(Op op, DType dtype, const std::vector<UOp>& operands) {
  if (std::ranges::any_of(operands, [](UOp u) { return !u; })) return {};
  if (op == Op::Where && operands[0].isConst()) return operands[operands[0].constInt() != 0 ? 1 : 2];
  const bool isKnown = std::ranges::all_of(operands, [](UOp u) { return u.isConst(); });
  if (isKnown)
    if (UOp value = sizeArithmetic(b_.graph(), op, dtype, operands); value && value.isConst()) return value;
  return b_.graph().make(op, dtype, operands);
}

// Only positions that are proved to lie inside, along axes of any size.
bool RunElements::isInside(UOp node, const Position& at) const {
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] < 0 || at[i] >= node.shape()[i].bounds().min) return false;
  return true;
}

std::optional<Position> RunElements::reshaped(UOp node, const Position& at) const {
  UOp x = node.src(0);
  int64_t flat = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    if (i > 0 && node.dim(i) < 0) return std::nullopt;
    flat = i == 0 ? at[i] : flat * node.dim(i) + at[i];
  }
  Position from(x.rank());
  for (size_t i = from.size(); i-- > 0;) {
    const int64_t size = x.dim(i);
    if (i > 0 && size <= 0) return std::nullopt;
    from[i] = i == 0 ? flat : flat % size;
    flat = i == 0 ? 0 : flat / size;
  }
  return from;
}

std::optional<Position> RunElements::moved(UOp node, const Position& at) const {
  Position from = at;
  for (size_t i = 0; i < at.size(); ++i) {
    const size_t offset = node.op() == Op::Pad ? 2 + i : 1 + i;
    if (node.op() == Op::Expand && node.src(0).dim(i) == 1) from[i] = 0;
    if (node.op() == Op::Permute) from[static_cast<size_t>(node.argAs<AxesArg>().axes[i])] = at[i];
    if (node.op() != Op::Pad && node.op() != Op::Shrink) continue;
    if (!node.src(offset).isConst()) return std::nullopt;
    from[i] += node.op() == Op::Pad ? -node.src(offset).constInt() : node.src(offset).constInt();
  }
  if (node.op() == Op::Flip)
    for (int32_t axis : node.argAs<AxesArg>().axes) {
      const int64_t size = node.dim(static_cast<size_t>(axis));
      if (size < 0) return std::nullopt;
      from[static_cast<size_t>(axis)] = size - 1 - at[static_cast<size_t>(axis)];
    }
  return from;
}

UOp RunElements::elementwise(UOp node, const Position& at, int depth) {
  std::vector<UOp> operands;
  for (UOp s : node.src()) {
    operands.push_back(of(s, s.rank() > 0 ? at : Position(), depth));
    // The other branch may be far too long, and elements outside of what is chosen.
    if (node.op() == Op::Where && operands.size() == 1 && operands[0] && operands[0].isConst()) {
      UOp chosen = node.src(operands[0].constInt() != 0 ? 1 : 2);
      return of(chosen, chosen.rank() > 0 ? at : Position(), depth);
    }
  }
  return combined(node.op(), node.dtype(), operands);
}

UOp RunElements::gathered(UOp node, const Position& at, int depth) {
  UOp x = node.src(0);
  Position from;
  for (size_t i = 0; i < x.rank(); ++i) {
    UOp index = node.src(1 + i), place = of(index, index.rank() > 0 ? at : Position(), depth);
    if (!place) return {};
    if (!place.isConst()) return read(node, at);
    from.push_back(place.constInt());
  }
  return isInside(x, from) ? of(x, from, depth) : read(node, at);
}

UOp RunElements::folded(UOp node, const Position& at, int depth) {
  UOp x = node.src(0);
  const ReduceArg& arg = node.argAs<ReduceArg>();
  const bool isChoice = (arg.op == Op::Max || arg.op == Op::Min) && arg.axes.size() == 1;
  const int64_t count = isChoice ? x.dim(static_cast<size_t>(arg.axes[0])) : -1;
  if (count < 1 || count > kMostFolded) return read(node, at);
  UOp result;
  for (int64_t i = 0; i < count; ++i) {
    Position from = at;
    from.insert(from.begin() + arg.axes[0], i);
    UOp element = of(x, from, depth);
    result = !element ? UOp() : i == 0 ? element : combined(arg.op, node.dtype(), {result, element});
    if (!result) return {};
  }
  return result;
}

UOp RunElements::of(UOp node, const Position& at, int depth) {
  if (depth > kDeepest) return read(node, at);
  Graph& g = b_.graph();
  std::optional<Position> from;
  switch (node.op()) {
    case Op::Iota: return g.index(at[0]);
    case Op::Stack: return at.size() == 1 ? of(node.src(static_cast<size_t>(at[0])), {}, depth + 1) : read(node, at);
    case Op::Contiguous: return of(node.src(0), at, depth + 1);
    case Op::Gather: return gathered(node, at, depth + 1);
    case Op::Reduce: return folded(node, at, depth + 1);
    case Op::Reshape: from = reshaped(node, at); break;
    case Op::Expand:
    case Op::Permute:
    case Op::Shrink:
    case Op::Flip:
    case Op::Pad: from = moved(node, at); break;
    default: return isElementwise(node.op()) && node.srcCount() > 0 ? elementwise(node, at, depth + 1) : read(node, at);
  }
  if (!from) return read(node, at);
  if (isInside(node.src(0), *from)) return of(node.src(0), *from, depth + 1);
  const bool isConstantPad = node.op() == Op::Pad && node.src(0).rank() > 0;
  if (!isConstantPad) return read(node, at);
  for (size_t i = 0; i < from->size(); ++i) {
    const bool isOutside = (*from)[i] < 0 || (*from)[i] >= node.src(0).shape()[i].bounds().max;
    if (isOutside) return of(node.src(1), {}, depth + 1);
  }
  return read(node, at);
}

}  // namespace

UOp runElement(GraphBuilder& b, UOp node, const std::vector<int64_t>& at) { return RunElements(b).of(node, at, 0); }

}  // namespace svod
