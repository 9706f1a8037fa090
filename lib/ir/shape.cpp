#include "ir/shape.h"

#include <algorithm>

#include "ir/custom.h"
#include "ir/gpu_op.h"

namespace svod {

namespace {

std::vector<UOp> toVector(std::span<const UOp> dims) { return {dims.begin(), dims.end()}; }

// Elementwise result: the first source that is not a scalar decides.
std::vector<UOp> broadcastShape(std::span<const UOp> src) {
  for (UOp s : src)
    if (s.rank() > 0) return toVector(s.shape());
  return {};
}

std::vector<UOp> paddedShape(Graph& g, std::span<const UOp> src) {
  std::vector<UOp> dims = toVector(src[0].shape());
  size_t n = dims.size();
  for (size_t i = 0; i < n; ++i) dims[i] = addDims(g, addDims(g, dims[i], src[2 + i]), src[2 + n + i]);
  return dims;
}

std::vector<UOp> reducedShape(std::span<const UOp> src, const ReduceArg& arg) {
  if (src.size() > 1) return toVector(src[0].shape());
  if (arg.axes.empty()) return {};
  std::vector<UOp> dims;
  for (size_t i = 0; i < src[0].rank(); ++i)
    if (std::find(arg.axes.begin(), arg.axes.end(), static_cast<int32_t>(i)) == arg.axes.end())
      dims.push_back(src[0].shape()[i]);
  return dims;
}

std::vector<UOp> gpuShape(Graph& g, std::span<const UOp> src, const NameArg& arg) {
  const GpuOpInfo* row = findGpuOp(arg.name);
  if (row != nullptr && row->isOfLane()) return broadcastShape(src);
  return row != nullptr && row->words() > 0 ? std::vector<UOp>{g.index(row->words())} : std::vector<UOp>{};
}

}  // namespace

std::vector<UOp> inferShape(Graph& g, Op op, std::span<const UOp> src, const Arg& arg) {
  if (isElementwise(op)) return broadcastShape(src);
  switch (op) {
    case Op::Buffer: return toVector(src);
    case Op::Iota:
    case Op::Param: return {src[0]};
    case Op::After:
    case Op::Prefetch:
    case Op::Load:
    case Op::Scatter:
    case Op::Contiguous:
    case Op::Copy:
    case Op::Flip: return toVector(src[0].shape());
    case Op::Gather: return broadcastShape(src.subspan(1));
    case Op::Index: return broadcastShape(src.subspan(1));
    case Op::Reshape:
    case Op::Expand: return toVector(src.subspan(1));
    case Op::Permute: {
      std::vector<UOp> dims;
      for (int32_t axis : std::get<AxesArg>(arg).axes) dims.push_back(src[0].shape()[axis]);
      return dims;
    }
    case Op::Pad: return paddedShape(g, src);
    case Op::Shrink: return toVector(src.subspan(1 + src[0].rank()));
    case Op::Reduce: return reducedShape(src, std::get<ReduceArg>(arg));
    case Op::Custom: return toVector(dimsOfCall(src, std::get<CustomArg>(arg)));
    case Op::Fill: return toVector(storageOf(src[0].src(0)).shape());
    case Op::Stack: return {g.index(static_cast<int64_t>(src.size()))};
    case Op::Ramp:
    case Op::Rows: return {g.index(std::get<SlotArg>(arg).slot)};
    case Op::Dot:
    case Op::TileDot:
    case Op::Wmma: return toVector(src[2].shape());
    case Op::Gpu: return gpuShape(g, src, std::get<NameArg>(arg));
    default: return {};
  }
}

}  // namespace svod
