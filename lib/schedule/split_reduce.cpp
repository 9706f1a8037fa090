#include "schedule/split_reduce.h"

#include <algorithm>

namespace svod {

namespace {

// Worth a second kernel only when the first sweeps this many elements per result and the result has few elements.
constexpr int64_t kMinRatio = 32768, kMaxResult = 64;
constexpr int64_t kMaxParts = 256, kMinParts = 8;

int64_t partsOf(int64_t extent) {
  for (int64_t parts = std::min(kMaxParts, extent); parts >= kMinParts; --parts)
    if (extent % parts == 0) return parts;
  return 0;
}

bool mayReassociate(UOp reduce, Numerics numerics) {
  Op op = reduce.argAs<ReduceArg>().op;
  return numerics != Numerics::Strict || !isFloat(reduce.dtype()) || op == Op::Max || op == Op::Min;
}

UOp split(Graph& g, UOp reduce) {
  UOp x = reduce.src(0);
  const auto& arg = reduce.argAs<ReduceArg>();
  for (int32_t axis : arg.axes) {
    int64_t parts = partsOf(x.dim(axis));
    if (parts == 0) continue;
    std::vector<UOp> dims(x.shape().begin(), x.shape().end());
    dims[axis] = g.index(parts);
    dims.insert(dims.begin() + axis + 1, g.index(x.dim(axis) / parts));
    // The part axis moves to the front; it stays after the first reduction.
    std::vector<int32_t> order{axis}, axes;
    for (int32_t i = 0; i < static_cast<int32_t>(dims.size()); ++i)
      if (i != axis) order.push_back(i);
    for (int32_t a : arg.axes) axes.push_back(a + 1);
    UOp first = g.reduce(arg.op, g.permute(g.reshape(x, dims), order), axes);
    int32_t front = 0;
    return g.reduce(arg.op, g.make(Op::Contiguous, first.dtype(), {first}), {&front, 1});
  }
  return reduce;
}

}  // namespace

UOp splitReduces(Graph& g, UOp sink, Numerics numerics) {
  return transform(g, sink, [&](UOp node, std::span<const UOp> src) {
    UOp same = std::ranges::equal(src, node.src()) ? node : g.withSrc(node, src);
    if (same.op() != Op::Reduce || same.src(0).hasSymbolicShape() || !mayReassociate(same, numerics)) return same;
    int64_t in = same.src(0).maxNumel(), out = std::max<int64_t>(same.maxNumel(), 1);
    return out <= kMaxResult && in / out >= kMinRatio ? split(g, same) : same;
  });
}

}  // namespace svod
