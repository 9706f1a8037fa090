// Pooling over windows of the last axes.
#include <limits>

#include "frontend/lower/common.h"

namespace svod {

namespace {

struct Pool {
  int firstAxis = 0;
  std::vector<WindowAxis> axes;
  std::vector<int> folded;  // the tap axes of the unfolded tensor
};

// A stride of 0, the default, means the size of the kernel.
std::vector<WindowAxis> poolAxes(OpCall& call, const Tensor& x, int firstAxis, const Dims& kernel) {
  std::vector<int64_t> strides = call.integers("stride");
  const HangingWindows hanging{call.flag("ceil"), call.flag("toward_zero")};
  if (strides.size() != 1 || strides[0] != 0) return windowAxes(call, x, firstAxis, kernel, hanging);
  Attributes attributes = call.attributes;
  std::erase_if(attributes, [](const auto& a) { return a.first == "stride"; });
  attributes.emplace_back("stride", AttributeValue(kernel));
  OpCall whole{call.b, call.op, call.operands, attributes};
  return windowAxes(whole, x, firstAxis, kernel, hanging);
}

Pool poolOf(OpCall& call) {
  Tensor x = call.arg(0);
  Dims kernel = call.dims("kernel");
  Pool pool;
  pool.firstAxis = x.rank() - kernel.rank();
  if (!call.require(kernel.rank() > 0 && pool.firstAxis >= 0, "the kernel needs 1 entry per spatial axis of x"))
    return {};
  for (const Dim& k : kernel)
    if (!k.isConst()) {
      call.fail(Diag::BadAttribute, "the kernel " + describe(kernel) + " is symbolic", "use integers");
      return {};
    }
  pool.axes = poolAxes(call, x, pool.firstAxis, kernel);
  int count = static_cast<int>(pool.axes.size());
  for (int i = 0; i < count; ++i) pool.folded.push_back(pool.firstAxis + count + i);
  return pool;
}

// x with its padding made real, and windows that need none.
Tensor padWindows(Tensor x, Pool& pool, Scalar fill) {
  GraphBuilder& b = *x.builder();
  Dims before, after;
  for (int i = 0; i < pool.firstAxis; ++i) before.add(b.dim(0)), after.add(b.dim(0));
  for (WindowAxis& a : pool.axes) {
    Dim end = (a.count - 1) * a.stride + (a.kernel - 1) * a.dilation + 1;  // first element no window touches
    before.add(a.before);
    after.add(larger(end - a.size - a.before, b.dim(0)));
    a.size = a.size + before[-1] + after[-1];
    a.before = a.after = b.dim(0);
  }
  return pad(x, before, after, b.constant(fill));
}

// Taps of every window along one axis that lie in [0, high) when 0 is the first element of x, and of the
// padding if it counts.
Tensor tapCount(OpCall& call, const WindowAxis& a, bool countPadding) {
  GraphBuilder& b = call.b;
  Tensor start = b.iota(a.count) * a.stride - b.value(a.before);
  Tensor low = b.value(countPadding ? b.dim(0) - a.before : b.dim(0));
  Tensor high = b.value(countPadding ? a.size + a.after : a.size), taps = b.value(a.kernel);
  auto tapsBelow = [&](Tensor limit) {
    return min(max(floordiv(limit - start + (a.dilation - 1), b.literal(a.dilation)), 0), taps);
  };
  return tapsBelow(high) - tapsBelow(low);
}

}  // namespace

Results lowerMaxPool(OpCall& call) {
  Pool pool = poolOf(call);
  if (pool.axes.empty()) return Tensor();
  Tensor x = call.arg(0);
  x = padWindows(x, pool, identity(Op::Max, x.dtype()));
  return reduce(Op::Max, unfold(x, pool.firstAxis, pool.axes), pool.folded, false);
}

// Positions count from 1, so that taps outside x, which read as 0, are told from all others.
Results lowerMaxPoolPositions(OpCall& call) {
  Pool pool = poolOf(call);
  if (pool.axes.empty()) return Tensor();
  Tensor x = call.arg(0);
  Dims pooled = x.dims().slice(pool.firstAxis, x.rank());
  Dim count = call.b.dim(1);
  for (const Dim& d : pooled) count = count * d;
  Dims alone = pooled;
  for (int i = 0; i < pool.firstAxis; ++i) alone.insert(0, call.b.dim(1));
  Tensor numbers = expand(reshape(cast(call.b.iota(count), DType::I64) + 1, alone), x.dims());
  Tensor positions = unfold(numbers, pool.firstAxis, pool.axes);
  Tensor taps = unfold(x, pool.firstAxis, pool.axes);
  Scalar smallest = identity(Op::Max, x.dtype());
  Tensor largest = reduce(Op::Max, where(eq(positions, 0), call.b.constant(smallest), taps), pool.folded, true);
  Tensor isLargest = both(ne(positions, 0), either(eq(taps, largest), isNan(taps)));
  Scalar none = identity(Op::Min, DType::I64);
  return reduce(Op::Min, where(isLargest, positions, call.b.constant(none)), pool.folded, false) - 1;
}

Results lowerSumPool(OpCall& call) {
  Pool pool = poolOf(call);
  if (pool.axes.empty()) return Tensor();
  Tensor x = call.arg(0), wide = cast(x, sumDType(x.dtype()));
  Tensor sums = reduce(Op::Add, unfold(wide, pool.firstAxis, pool.axes), pool.folded, false);
  return x.dtype() == DType::Bool ? sums : cast(sums, x.dtype());
}

Results lowerAvgPool(OpCall& call) {
  Pool pool = poolOf(call);
  if (pool.axes.empty()) return Tensor();
  Tensor x = cast(call.arg(0), computeDType(call.arg(0)));
  bool countPadding = call.flag("count_include_pad"), isConstant = true;
  Tensor sums = reduce(Op::Add, unfold(x, pool.firstAxis, pool.axes), pool.folded, false);
  if (!sums) return Tensor();
  int64_t taps = 1;
  for (const WindowAxis& a : pool.axes) {
    taps *= a.kernel.constant();
    isConstant &= !a.mayHang && (countPadding || (a.before.is(0) && a.after.is(0)));
  }
  if (isConstant) return cast(sums / taps, resultDType(call.arg(0)));
  int rank = sums.rank();
  Tensor count;
  for (size_t i = 0; i < pool.axes.size(); ++i) {
    Tensor along = tapCount(call, pool.axes[i], countPadding);
    for (int after = pool.firstAxis + static_cast<int>(i) + 1; after < rank; ++after) along = unsqueeze(along, -1);
    count = count ? count * along : along;
  }
  return cast(sums / cast(count, sums.dtype()), resultDType(call.arg(0)));
}

namespace {

std::vector<int> spatialAxesOf(OpCall& call) {
  std::vector<int> axes;
  for (int i = 2; i < call.arg(0).rank(); ++i) axes.push_back(i);
  call.require(!axes.empty(), "x is [n, channels, sizes..]");
  return axes;
}

}  // namespace

Results lowerGlobalMaxPool(OpCall& call) {
  std::vector<int> axes = spatialAxesOf(call);
  return axes.empty() ? Tensor() : reduce(Op::Max, call.arg(0), axes, true);
}

Results lowerGlobalAvgPool(OpCall& call) {
  Tensor x = call.arg(0);
  std::vector<int> axes = spatialAxesOf(call);
  return axes.empty() ? Tensor() : cast(meanOf(cast(x, computeDType(x)), axes), resultDType(x));
}

}  // namespace svod
