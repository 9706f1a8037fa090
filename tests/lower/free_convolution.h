// A convolution whose windows reach beyond pictures of free sizes, for tests of what becomes of its loops.
#pragma once
#include "rest_kernels.h"
#include "symbolic/symbolic.h"

namespace svod {

inline constexpr int64_t kFilters = 4, kChannels = 2, kTaps = 3;

/// A convolution over pictures whose sizes a run decides: windows of three by three, one element of padding around.
struct Convolution {
  int64_t step;      // of the windows
  bool isDepthwise;  // a channel for each filter, or all of them
  int64_t dilation = 1;
  bool isPool = false;  // the greatest element of a window, without weights

  UOp build(Graph& g) const {
    Builder b(g);
    UOp height = g.variable("height", 1, 60), width = g.variable("width", 1, 60);
    const auto results = [&](UOp size) { return g.alu(Op::Floordiv, {b.add(size, b.i(step - 1)), b.i(step)}); };
    UOp lines = results(height), columns = results(width);
    const auto param = [&](uint32_t slot, UOp size, UOp at) {
      return g.indexInto(g.make(Op::Param, DType::F32, {simplify(g, size)}, SlotArg{slot, Space::Global}),
                         std::vector<UOp>{simplify(g, at)});
    };
    UOp f = b.loop(kFilters), y = b.loop(lines), x = b.loop(columns);
    UOp c = b.loop(isDepthwise ? 1 : kChannels, AxisType::Reduce), ky = b.loop(kTaps, AxisType::Reduce),
        kx = b.loop(kTaps, AxisType::Reduce);
    UOp row = b.add(b.add(b.mul(y, b.i(step)), b.mul(ky, b.i(dilation))), b.i(-1)),
        column = b.add(b.add(b.mul(x, b.i(step)), b.mul(kx, b.i(dilation))), b.i(-1));
    const auto isInside = [&](UOp at, UOp size) { return b.both(b.lt(b.i(-1), at), b.lt(at, size)); };
    UOp channel = isDepthwise ? f : c, channels = b.i(isDepthwise ? kFilters : kChannels);
    UOp place = b.add(b.mul(b.add(b.mul(channel, height), row), width), column);
    UOp value = g.load(param(1, b.mul(b.mul(height, width), channels), place),
                       g.constant(identity(isPool ? Op::Max : Op::Add, DType::F32)),
                       simplify(g, b.both(isInside(row, height), isInside(column, width))));
    UOp tap = b.add(b.mul(b.add(b.mul(f, b.i(isDepthwise ? 1 : kChannels)), c), b.i(kTaps * kTaps)),
                    b.add(b.mul(ky, b.i(kTaps)), kx));
    UOp weight = g.load(param(2, b.i(kFilters * kChannels * kTaps * kTaps), tap));
    std::vector<UOp> terms{ky, kx};
    if (!isDepthwise) terms.insert(terms.begin(), c);
    if (isDepthwise) weight = simplify(g, substitute(g, weight, std::vector<UOp>{c}, std::vector<UOp>{b.i(0)}));
    UOp sum = isPool ? b.reduce(Op::Max, value, terms) : b.reduce(Op::Add, b.mul(value, weight), terms);
    UOp at = b.add(b.mul(b.add(b.mul(f, lines), y), columns), x);
    UOp out = param(0, b.mul(b.mul(lines, columns), b.i(kFilters)), at);
    return b.sink({b.end(b.store(out, sum), {f, y, x})});
  }

  /// What a kernel of any stage stores.
  Buffers storedFor(UOp sink, int64_t height, int64_t width) const {
    const int64_t lines = (height + step - 1) / step, columns = (width + step - 1) / step;
    Buffers buffers;
    for (int64_t size : {lines * columns * kFilters, height * width * (isDepthwise ? kFilters : kChannels),
                         kFilters * kChannels * kTaps * kTaps}) {
      HostTensor t = HostTensor::zeros(DType::F32, {size});
      for (int64_t i = 0; i < size; ++i)
        t.set(i, Scalar::of(DType::F32, static_cast<double>((i * 7 + static_cast<int64_t>(buffers.size()) * 5) % 11)));
      buffers.push_back(std::move(t));
    }
    const Status status = interpretKernel(sink, buffers, {{"height", height}, {"width", width}});
    if (!status) FAIL(toText(status.error()) << "\n" << toUopText(sink));
    return buffers;
  }
};

}  // namespace svod
