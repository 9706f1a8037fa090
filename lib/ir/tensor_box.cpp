#include "ir/tensor_box.h"

#include <algorithm>

#include "ir/warpgroup_operand.h"

namespace svod {

namespace {

using Coordinate = TensorBox::Coordinate;

void collect(UOp e, int64_t times, Coordinate& to) {
  if (e.op() == Op::Add) {
    collect(e.src(0), times, to), collect(e.src(1), times, to);
  } else if (e.op() == Op::Mul && e.src(1).isConst()) {
    collect(e.src(0), times * e.src(1).constInt(), to);
  } else if (e.isConst()) {
    to.constant += times * e.constInt();
  } else {
    to.terms.push_back({e, times});
  }
}

/// How far neighbours along a loop are apart.
int64_t takeStride(Coordinate& sum, UOp loop) {
  int64_t stride = 0;
  for (const TensorBox::Term& term : sum.terms) stride += term.value == loop ? term.times : 0;
  std::erase_if(sum.terms, [&](const TensorBox::Term& term) { return term.value == loop; });
  return stride;
}

bool holds(const Coordinate& all, const TensorBox::Term& term) {
  return std::ranges::find(all.terms, term) != all.terms.end();
}

/// What a dim ends by moves along it; its other terms, such as the number of a matrix, along dims of their own.
void splitDim(TensorBox& box, size_t dim, const Coordinate& along) {
  for (const TensorBox::Term& term : std::vector(box.at[dim].terms)) {
    if (holds(along, term)) continue;
    box.strides.push_back(term.times * box.strides[dim]), box.box.push_back(1), box.extents.emplace_back();
    box.at.push_back({{{term.value, 1}}, 0});
  }
  box.at[dim].terms = along.terms;
}

bool isPlain(UOp index) { return index.op() == Op::Index && index.srcCount() == 2 && index.src(1).isScalar(); }

bool isZeroElsewhere(UOp load) {
  return load.srcCount() == 1 || (load.src(1).isConst() && load.src(1).constant().raw() == 0);
}

bool isInOrder(UOp place, std::span<const UOp> loops) {
  Coordinate sum;
  collect(place, 1, sum);
  int64_t inner = 1;
  for (size_t i = loops.size(); i-- > 0; inner *= loops[i].src(0).constInt())
    if (takeStride(sum, loops[i]) != (loops[i].src(0).isConst(1) ? 0 : inner)) return false;
  return sum.terms.empty() && sum.constant == 0;
}

/// Each term moves along the dim with the longest steps that it is made of.
void distribute(const Coordinate& sum, TensorBox& box) {
  std::vector<size_t> dims(box.strides.size());
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = d;
  std::ranges::stable_sort(dims, std::ranges::greater(), [&](size_t d) { return box.strides[d]; });
  for (const TensorBox::Term& term : sum.terms) {
    const auto dim = std::ranges::find_if(dims, [&](size_t d) { return term.times % box.strides[d] == 0; });
    box.at[*dim].terms.push_back({term.value, term.times / box.strides[*dim]});
  }
  int64_t left = sum.constant;
  for (size_t d : dims) box.at[d].constant = left / box.strides[d], left %= box.strides[d];
}

/// A gate that holds below an extent of some dims, which is where the tensor ends for bulk copies: they bring zeros
/// beyond it. False where it says something else. `loops` are those of the dims, or null.
bool takeExtents(UOp gate, std::span<const UOp> loops, TensorBox& box) {
  if (gate.op() == Op::And) return takeExtents(gate.src(0), loops, box) && takeExtents(gate.src(1), loops, box);
  if (gate.op() != Op::Lt || !isKnownAtLaunch(gate.src(1)) || gate.src(1).bounds().min < 1) return false;
  Coordinate below;
  collect(gate.src(0), 1, below);
  for (size_t d = 0; d < loops.size(); ++d) {
    Coordinate left = below;
    const auto isOfDim = [&](const TensorBox::Term& term) { return holds(box.at[d], term); };
    if (takeStride(left, loops[d]) != (loops[d] ? 1 : 0) || !std::ranges::all_of(left.terms, isOfDim)) continue;
    if (box.extents[d].most() > 0 || box.at[d].constant < left.constant) return false;
    box.extents[d] = {gate.src(1), box.at[d].constant - left.constant};
    splitDim(box, d, left);
    return true;
  }
  return false;
}

/// Extents as far as boxes go, where no gate says it; false where they begin before the tensor, or end behind it.
bool measure(TensorBox& box) {
  int64_t last = 0;
  for (size_t d = 0; d < box.at.size(); ++d) {
    int64_t least = box.at[d].constant, most = least;
    for (const auto& [value, times] : box.at[d].terms) {
      const Interval bounds = value.bounds();
      if (times < 0 || bounds.min < 0 || bounds.max > INT32_MAX) return false;
      most += times * bounds.max;
    }
    if (least < 0 || most > INT32_MAX - kBoxExtent) return false;
    if (box.extents[d].most() == 0) box.extents[d].more = most + box.box[d];
    last += (box.extents[d].most() - 1) * box.strides[d];
  }
  return last < box.param.maxNumel();
}

bool fits(const TensorBox& box, DType dtype, int swizzle) {
  const int64_t bytes = byteSize(dtype), row = box.box[0] * bytes;
  if (box.strides[0] != 1 || row % kTensorAlignment != 0 || box.bytes % kOperandPeriod != 0) return false;
  if (swizzle > 0 && (row != int64_t{1} << swizzle || row > kOperandRow)) return false;
  for (size_t d = 0; d < box.box.size(); ++d)
    if (box.box[d] > kBoxExtent || (d > 0 && (box.strides[d] <= 0 || box.strides[d] * bytes % kTensorAlignment != 0)))
      return false;
  return box.box.size() <= kTensorDims;
}

}  // namespace

std::optional<TensorBox> boxOf(UOp store, std::span<const UOp> loops) {
  if (store.op() != Op::Store || !isPlain(store.src(0))) return std::nullopt;
  const UOp value = store.src(1), buffer = storageOf(store.src(0));
  const bool isCopy = value.op() == Op::Load && isZeroElsewhere(value) && value.isScalar() && isPlain(value.src(0)) &&
                      storageOf(value.src(0)).op() == Op::Param && info(value.dtype()).bits >= 8;
  const auto isCounted = [](UOp r) { return r.op() == Op::Range && r.src(0).isConst() && r.src(0).constInt() > 0; };
  if (!isCopy || !std::ranges::all_of(loops, isCounted) || !isInOrder(store.src(0).src(1), loops)) return std::nullopt;
  TensorBox box;
  box.param = storageOf(value.src(0)), box.bytes = byteSize(value.dtype());
  Coordinate sum;
  std::vector<UOp> moving;  // the loops of the dims
  collect(value.src(0).src(1), 1, sum);
  for (size_t i = loops.size(); i-- > 0;) {
    const int64_t extent = loops[i].src(0).constInt(), stride = takeStride(sum, loops[i]);
    box.bytes *= extent;
    if (extent == 1 && !box.box.empty()) continue;
    box.box.push_back(extent), box.strides.push_back(stride), moving.push_back(loops[i]);
  }
  const auto dependsOnLoops = [&](const TensorBox::Term& term) {
    return std::ranges::any_of(loops, [&](UOp r) { return term.value.dependsOn(r); });
  };
  if (box.box.empty() || std::ranges::any_of(sum.terms, dependsOnLoops)) return std::nullopt;
  if (box.box.size() == 1) box.box.push_back(1), box.strides.push_back(box.box[0] * 16), moving.emplace_back();
  if (!fits(box, value.dtype(), buffer.argAs<SlotArg>().swizzle)) return std::nullopt;
  box.at.resize(box.box.size()), box.extents.resize(box.box.size());
  distribute(sum, box);
  if (value.srcCount() > 1 && !takeExtents(value.src(2), moving, box)) return std::nullopt;
  if (!fits(box, value.dtype(), buffer.argAs<SlotArg>().swizzle) || !measure(box)) return std::nullopt;
  return box;
}

bool isUsedOnce(UOp sink, UOp param) {
  return std::ranges::count_if(toposort(sink), [&](UOp n) { return n.op() == Op::Index && storageOf(n) == param; }) ==
         1;
}

}  // namespace svod
