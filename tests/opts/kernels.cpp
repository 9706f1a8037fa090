#include "opts/kernels.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "opts/kernel_parts.h"

namespace svod {

namespace {

UOp buildBroadcastRelu(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n);
  UOp sum = b.add(b.read(1, {s.m, s.n}, {r0, r1}), b.read(2, {s.n}, {r1}));
  UOp relu = g.alu(Op::Max, {sum, g.constant(Scalar::of(DType::F32, 0))});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), relu), {r0, r1})});
}

UOp buildMoments(Graph& g, const Sizes& s) {  // two reduces over one loop, two outputs
  Builder b(g);
  UOp r0 = b.loop(s.m), k = b.loop(s.n, AxisType::Reduce);
  UOp x = b.read(2, {s.m, s.n}, {r0, k});
  UOp sum = b.reduce(Op::Add, x, {k}), squares = b.reduce(Op::Add, b.mul(x, x), {k});
  UOp first = b.store(b.at(0, DType::F32, {s.m}, {r0}), sum),
      second = b.store(b.at(1, DType::F32, {s.m}, {r0}), squares);
  return b.sink({b.end(g.make(Op::Group, DType::Void, {first, second}), {r0})});
}

UOp buildGather(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n);
  UOp row = g.cast(g.load(b.at(1, DType::I32, {s.m}, {r0})), DType::Index);
  UOp inside = b.both(b.lt(b.i(-1), row), b.lt(row, b.i(s.k)));
  UOp value = g.load(b.at(2, DType::F32, {s.k, s.n}, {row, r1}), g.constant(Scalar::of(DType::F32, 0)), inside);
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), value), {r0, r1})});
}

UOp buildSymbolicRows(Graph& g,
                      const Sizes& s) {  // the first rows up to a variable, summed over k per column
  Builder b(g);
  UOp rows = g.variable("rows", 1, s.m), r0 = b.loop(rows), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp value = b.reduce(Op::Max, b.read(1, {s.m, s.k, s.n}, {r0, k, r1}), {k});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), value), {r0, r1})});
}

UOp buildSymbolicReduce(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp length = g.variable("length", 1, s.k), r0 = b.loop(s.m), k = b.loop(length, AxisType::Reduce);
  UOp value = b.reduce(Op::Mul, b.read(1, {s.m, s.k}, {r0, k}), {k});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m}, {r0}), value), {r0})});
}

UOp buildIntDot(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), k0 = b.loop(s.n, AxisType::Reduce), k1 = b.loop(s.k, AxisType::Reduce);
  UOp x = g.load(b.at(1, DType::I32, {s.m, s.n, s.k}, {r0, k0, k1})),
      w = g.load(b.at(2, DType::I32, {s.n, s.k}, {k0, k1}));
  return b.sink({b.end(b.store(b.at(0, DType::I32, {s.m}, {r0}), b.reduce(Op::Add, b.mul(x, w), {k0, k1})), {r0})});
}

UOp buildByteSums(Graph& g, const Sizes& s) {  // sums of the bytes of rows
  Builder b(g);
  UOp r0 = b.loop(s.m), k = b.loop(s.k, AxisType::Reduce);
  UOp sum = b.reduce(Op::Add, g.cast(g.load(b.at(1, DType::I8, {s.m, s.k}, {r0, k})), DType::I32), {k});
  return b.sink({b.end(b.store(b.at(0, DType::I32, {s.m}, {r0}), sum), {r0})});
}

template <DType a, DType b, int zeros = 0>
UOp buildBytes(Graph& g, const Sizes& s) {
  return buildByteMatmul(g, s, {a, b, (zeros & 1) != 0, (zeros & 2) != 0});
}

constexpr TestKernel kKernels[] = {
    {"matmul", buildMatmul},
    {"groups", buildGroups},
    {"matvec", buildMatvec},
    {"softmax", buildSoftmax},
    {"attention", buildAttention},
    {"add", buildAdd},
    {"transpose", buildTranspose},
    {"row-sum", buildRowSum},
    {"column-sum", buildColumnSum},
    {"full-max", buildFullMax},
    {"conv1d", buildConv1d},
    {"conv2d", buildConv2d},
    {"conv2d-step2", buildConv2dStep2},
    {"conv2d-step2-valid", buildConv2dStep2Valid},
    {"relu", buildBroadcastRelu},
    {"moments", buildMoments},
    {"gather", buildGather},
    {"symbolic-rows", buildSymbolicRows},
    {"symbolic-reduce", buildSymbolicReduce},
    {"int-dot", buildIntDot},
    {"serial", buildSerial},
    {"bytes-us", buildBytes<DType::U8, DType::I8>},
    {"bytes-ss", buildBytes<DType::I8, DType::I8>},
    {"bytes-uu-zero", buildBytes<DType::U8, DType::U8, 1>},
    {"bytes-su-zeros", buildBytes<DType::I8, DType::U8, 3>},
    {"bytes-ss-zeros", buildBytes<DType::I8, DType::I8, 3>},
    {"byte-sums", buildByteSums},
    {"matmul-across", buildMatmulAcross},
    {"matmul-bias", buildMatmulBias},
    {"conv2d-dilated", buildDilatedConv2d},
    {"pointwise", buildPointwise},
    {"bf16", buildBf16<false>},
    {"bf16-rows", buildBf16<true>},
};

}  // namespace

UOp buildSerial(Graph& g, const Sizes& s) {  // running sums along the rows, one after the other
  Builder b(g);
  UOp r0 = b.loop(s.m), t = b.loop(s.n, AxisType::Serial);
  UOp before = g.load(b.at(0, DType::F32, {s.m, s.n}, {r0, b.sub(t, b.i(1))}), g.constant(Scalar::of(DType::F32, 0)),
                      b.lt(b.i(0), t));
  UOp value = b.add(before, b.read(1, {s.m, s.n}, {r0, t}));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, t}), value), {r0, t})});
}

UOp buildMatmul(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp product = b.mul(b.read(1, {s.m, s.k}, {r0, k}), b.read(2, {s.k, s.n}, {k, r1}));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), b.reduce(Op::Add, product, {k})), {r0, r1})});
}

UOp buildMatmulAcross(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp product = b.mul(b.read(1, {s.k, s.m}, {k, r0}), b.read(2, {s.k, s.n}, {k, r1}));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), b.reduce(Op::Add, product, {k})), {r0, r1})});
}

UOp buildMatmulBias(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp bias = b.read(3, {s.n}, {r1});
  UOp product = b.mul(b.read(1, {s.m, s.k}, {r0, k}), b.read(2, {s.k, s.n}, {k, r1}));
  UOp sum = b.add(bias, b.reduce(Op::Add, product, {k}));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), sum), {r0, r1})});
}

UOp buildPointwise(Graph& g, const Sizes& s) {
  constexpr int64_t kImages = 8;
  Builder b(g);
  UOp image = b.loop(kImages), filter = b.loop(s.m), at = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp product = b.mul(b.read(1, {kImages, s.k, s.n}, {image, k, at}), b.read(2, {s.m, s.k}, {filter, k}));
  UOp out = b.at(0, DType::F32, {kImages, s.m, s.n}, {image, filter, at});
  return b.sink({b.end(b.store(out, b.reduce(Op::Add, product, {k})), {image, filter, at})});
}

UOp buildGroups(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(2 * s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp group = g.alu(Op::Floordiv, {r0, g.index(s.m)});
  UOp product = b.mul(b.read(1, {2, s.k, s.n}, {group, k, r1}), b.read(2, {2 * s.m, s.k}, {r0, k}));
  return b.sink(
      {b.end(b.store(b.at(0, DType::F32, {2 * s.m, s.n}, {r0, r1}), b.reduce(Op::Add, product, {k})), {r0, r1})});
}

UOp buildByteMatmul(Graph& g, const Sizes& s, const Bytes& bytes) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  auto wide = [&](UOp address) { return g.cast(g.load(address), DType::I32); };
  UOp x = wide(b.at(1, bytes.a, {s.m, s.k}, {r0, k})), y = wide(b.at(2, bytes.b, {s.k, s.n}, {k, r1}));
  if (bytes.rowZeros) x = b.sub(x, wide(b.at(3, bytes.a, {s.m}, {r0})));
  if (bytes.columnZeros) y = b.sub(y, wide(b.at(4, bytes.b, {s.n}, {r1})));
  UOp sum = b.reduce(Op::Add, b.mul(x, y), {k});
  return b.sink({b.end(b.store(b.at(0, DType::I32, {s.m, s.n}, {r0, r1}), sum), {r0, r1})});
}

UOp buildByteBlocks(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n);
  auto reduced = [&](int64_t n) { return b.loop(n, AxisType::Reduce); };
  UOp block = reduced(s.k), half = reduced(2), k = reduced(8);
  auto wide = [&](UOp byte) { return g.cast(byte, DType::I32); };
  UOp bytes = g.load(b.at(2, DType::U8, {s.n, s.k, 8}, {r1, block, k}));
  UOp shift = g.cast(b.mul(half, b.i(4)), DType::U8), mask = g.constant(Scalar::ofInt(DType::U8, 15));
  UOp part = g.alu(Op::And, {g.alu(Op::Shr, {bytes, shift}), mask});
  UOp x = g.load(b.at(1, DType::I8, {s.m, s.k, 2, 8}, {r0, block, half, k}));
  UOp inner = b.reduce(Op::Add, b.mul(wide(x), wide(part)), {half, k});
  UOp scaled = b.mul(g.cast(inner, DType::F32), b.read(3, {s.n, s.k}, {r1, block}));
  UOp sum = b.reduce(Op::Add, scaled, {block});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), sum), {r0, r1})});
}

UOp buildBf16Matmul(Graph& g, const Sizes& s, bool byRows) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  auto wide = [&](UOp address) { return g.cast(g.load(address), DType::F32); };
  UOp x = wide(b.at(1, DType::BF16, {s.m, s.k}, {r0, k}));
  UOp y = wide(byRows ? b.at(2, DType::BF16, {s.n, s.k}, {r1, k}) : b.at(2, DType::BF16, {s.k, s.n}, {k, r1}));
  UOp sum = b.reduce(Op::Add, b.mul(x, y), {k});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), sum), {r0, r1})});
}

UOp buildMatvec(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp product = b.mul(b.read(1, {s.k}, {k}), b.read(2, {s.k, s.n}, {k, r0}));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.n}, {r0}), b.reduce(Op::Add, product, {k})), {r0})});
}

UOp buildAdd(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n);
  UOp sum = b.add(b.read(1, {s.m, s.n}, {r0, r1}), b.read(2, {s.m, s.n}, {r0, r1}));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), sum), {r0, r1})});
}

UOp buildTranspose(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n);
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), b.read(1, {s.n, s.m}, {r1, r0})), {r0, r1})});
}

UOp buildRowSum(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), k = b.loop(s.n, AxisType::Reduce);
  return b.sink(
      {b.end(b.store(b.at(0, DType::F32, {s.m}, {r0}), b.reduce(Op::Add, b.read(1, {s.m, s.n}, {r0, k}), {k})), {r0})});
}

UOp buildColumnSum(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.n), k = b.loop(s.m, AxisType::Reduce);
  return b.sink(
      {b.end(b.store(b.at(0, DType::F32, {s.n}, {r0}), b.reduce(Op::Add, b.read(1, {s.m, s.n}, {k, r0}), {k})), {r0})});
}

UOp buildFullMax(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp k0 = b.loop(s.m, AxisType::Reduce), k1 = b.loop(s.n, AxisType::Reduce);
  UOp largest = b.reduce(Op::Max, b.read(1, {s.m, s.n}, {k0, k1}), {k0, k1});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {1}, {}), largest), {})});
}

UOp buildConv1d(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp at = b.sub(b.add(r1, k), b.i(s.k / 2));
  UOp inside = b.both(b.lt(b.i(-1), at), b.lt(at, b.i(s.n)));
  UOp x = g.load(b.at(1, DType::F32, {s.n}, {at}), g.constant(Scalar::of(DType::F32, 0)), inside);
  UOp value = b.reduce(Op::Add, b.mul(x, b.read(2, {s.m, s.k}, {r0, k})), {k});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), value), {r0, r1})});
}

namespace {

struct Plane {
  int64_t step = 1, pad = 1, channels = 2, dilation = 1;
  int64_t columnTaps = 3;
  DType data = DType::F32;  // i8 and u8: products of two bytes, summed in i32; those of i8 are read as u8
};

// An element of the input, `fill` outside of it.
UOp elementOf(Graph& g, UOp address, const Plane& p, UOp inside) {
  const bool areBytes = p.data != DType::F32;
  const UOp fill = g.constant(Scalar::of(p.data, areBytes ? 7 : 0));
  UOp element = p.pad == 0 ? g.load(address) : g.load(address, fill, inside);
  if (p.data == DType::I8)
    element = g.bitcast(g.alu(Op::Xor, {element, g.constant(Scalar::ofInt(DType::I8, -128))}), DType::U8);
  return areBytes ? g.cast(element, DType::I32) : element;
}

// m filters over some channels, k lines of n results; elements of 0 around the input.
UOp conv2d(Graph& g, const Sizes& s, const Plane& p) {
  constexpr int64_t kTaps = 3;
  Builder b(g);
  auto reach = [&](int64_t results, int64_t taps, int64_t pad) {
    return (results - 1) * p.step + (taps - 1) * p.dilation + 1 - 2 * pad;
  };
  const int64_t height = reach(s.k, kTaps, p.pad), width = reach(s.n, p.columnTaps, p.pad);
  UOp filter = b.loop(s.m), y = b.loop(s.k), x = b.loop(s.n);
  UOp c = b.loop(p.channels, AxisType::Reduce), ky = b.loop(kTaps, AxisType::Reduce);
  std::vector<UOp> taps{c, ky};
  if (p.columnTaps > 1) taps.push_back(b.loop(p.columnTaps, AxisType::Reduce));
  const UOp kx = p.columnTaps > 1 ? taps.back() : b.i(0);
  auto position = [&](UOp out, UOp tap, int64_t pad) {
    return b.sub(b.add(b.mul(out, b.i(p.step)), b.mul(tap, b.i(p.dilation))), b.i(pad));
  };
  UOp row = position(y, ky, p.pad), column = position(x, kx, p.pad);
  UOp address = b.at(1, p.data, {p.channels, height, width}, {c, row, column});
  UOp inside = b.both(b.both(b.lt(b.i(-1), row), b.lt(row, b.i(height))),
                      b.both(b.lt(b.i(-1), column), b.lt(column, b.i(width))));
  const bool areBytes = p.data != DType::F32;
  UOp weight =
      g.load(b.at(2, areBytes ? DType::I8 : DType::F32, {s.m, p.channels, kTaps, p.columnTaps}, {filter, c, ky, kx}));
  if (areBytes) weight = g.cast(weight, DType::I32);
  UOp value = b.reduce(Op::Add, b.mul(elementOf(g, address, p, inside), weight), taps);
  const UOp place = b.at(0, value.dtype(), {s.m, s.k, s.n}, {filter, y, x});
  return b.sink({b.end(b.store(place, value), {filter, y, x})});
}

}  // namespace

UOp buildConv2d(Graph& g, const Sizes& s) { return conv2d(g, s, {}); }
UOp buildDeepConv2d(Graph& g, const Sizes& s) { return conv2d(g, s, {.channels = 16}); }
UOp buildDilatedConv2d(Graph& g, const Sizes& s) { return conv2d(g, s, {.pad = 3, .dilation = 3}); }
UOp buildColumnConv2d(Graph& g, const Sizes& s) { return conv2d(g, s, {.columnTaps = 1}); }
UOp buildConv2dStep2(Graph& g, const Sizes& s) { return conv2d(g, s, {.step = 2}); }
UOp buildConv2dStep2Valid(Graph& g, const Sizes& s) { return conv2d(g, s, {.step = 2, .pad = 0}); }
UOp buildByteConv2d(Graph& g, const Sizes& s) { return conv2d(g, s, {.channels = 8, .data = DType::U8}); }
UOp buildDeepByteConv2d(Graph& g, const Sizes& s) { return conv2d(g, s, {.channels = 64, .data = DType::U8}); }
UOp buildByteConv2dStep2(Graph& g, const Sizes& s) {
  return conv2d(g, s, {.step = 2, .channels = 6, .data = DType::I8});
}

std::span<const TestKernel> testKernels() { return kKernels; }

Buffers makeBuffers(UOp sink) {
  Buffers buffers;
  for (UOp n : toposort(sink)) {
    if (n.op() != Op::Param) continue;
    size_t slot = n.argAs<SlotArg>().slot;
    if (slot >= buffers.size()) buffers.resize(slot + 1);
    buffers[slot] = HostTensor::zeros(n.dtype(), {n.maxNumel()});
    const bool isByte = isInt(n.dtype()) && info(n.dtype()).bits == 8;
    for (int64_t at = 0; at < n.maxNumel(); ++at) {
      int64_t value = (at * 7 + static_cast<int64_t>(slot) * 3 + 5) % 11 - 4;
      if (isByte) value = minInt(n.dtype()) + (at * 85 + static_cast<int64_t>(slot) * 3 + 252) % 256;  // extremes early
      buffers[slot].set(at, Scalar::of(n.dtype(), static_cast<double>(value)));
    }
  }
  return buffers;
}

bool sameBuffers(const Buffers& a, const Buffers& b, double relative) {
  for (size_t slot = 0; slot < a.size(); ++slot) {
    for (int64_t i = 0; i < a[slot].numel(); ++i) {
      Scalar x = a[slot].at(i), y = b[slot].at(i);
      if (x == y) continue;
      if (!isFloat(x.dtype()) || !(std::abs(x.asFloat() - y.asFloat()) <= relative * std::abs(x.asFloat())))
        return false;
    }
  }
  return true;
}

VariableValues valuesOf(UOp sink) {
  VariableValues variables;
  for (UOp n : toposort(sink))
    if (n.op() == Op::Var) variables.emplace(n.argAs<VarArg>().name, std::min<int64_t>(n.argAs<VarArg>().max, 3));
  return variables;
}

Buffers resultOf(UOp sink) {
  Buffers buffers = makeBuffers(sink);
  Status status = interpretKernel(sink, buffers, valuesOf(sink));
  if (!status) FAIL(toText(status.error()));
  return buffers;
}

}  // namespace svod
