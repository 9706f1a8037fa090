#include "lower/short_loops.h"

#include "lower/tile_rests.h"
#include "rest_kernels.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

constexpr int64_t kFilters = 4, kChannels = 2, kTaps = 3;

/// A convolution over pictures whose sizes a run decides: windows of three by three, one element of padding around.
struct Convolution {
  int64_t step;      // of the windows
  bool isDepthwise;  // a channel for each filter, or all of them

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
    UOp row = b.add(b.add(b.mul(y, b.i(step)), ky), b.i(-1)), column = b.add(b.add(b.mul(x, b.i(step)), kx), b.i(-1));
    const auto isInside = [&](UOp at, UOp size) { return b.both(b.lt(b.i(-1), at), b.lt(at, size)); };
    UOp channel = isDepthwise ? f : c, channels = b.i(isDepthwise ? kFilters : kChannels);
    UOp place = b.add(b.mul(b.add(b.mul(channel, height), row), width), column);
    UOp value = g.load(param(1, b.mul(b.mul(height, width), channels), place), g.constant(Scalar::of(DType::F32, 0)),
                       simplify(g, b.both(isInside(row, height), isInside(column, width))));
    UOp tap = b.add(b.mul(b.add(b.mul(f, b.i(isDepthwise ? 1 : kChannels)), c), b.i(kTaps * kTaps)),
                    b.add(b.mul(ky, b.i(kTaps)), kx));
    UOp weight = g.load(param(2, b.i(kFilters * kChannels * kTaps * kTaps), tap));
    std::vector<UOp> terms{ky, kx};
    if (!isDepthwise) terms.insert(terms.begin(), c);
    if (isDepthwise) weight = simplify(g, substitute(g, weight, std::vector<UOp>{c}, std::vector<UOp>{b.i(0)}));
    UOp sum = b.reduce(Op::Add, b.mul(value, weight), terms);
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

}  // namespace

TEST_CASE("Windows over pictures of any size are copied, and results are right") {
  const char* const lists[] = {
      "tile(1,2) tile(3,4) order(1,3,0,2,4) window(1,5,6,7,3,4)",
      "tile(1,4) tile(3,8) order(1,3,0,2,4) window(1,5,6,7,3,4) upcast(2,2) vector(4,4)",
      "tile(1,4) tile(3,8) order(1,3,0,2,4) window(1,5,6,7,3,4) upcast(3,2) vector(4,4) upcast(4,2)",
      "tile(1,3) tile(3,5) order(1,3,0,2,4) window(1,5,6,7,3,4) vector(2,4) upcast(4,5) thread(0,1)"};
  for (int64_t step : {1, 2})
    for (const char* opts : lists) {
      const Convolution conv{step, false};
      INFO(opts << ", step " << step);
      Graph g;
      UOp plain = conv.build(g), tuned = withOpts(g, plain, opts);
      for (UOp n : toposort(tuned))  // no gate on what the windows read
        if (n.op() == Op::Load && storageOf(n.src(0)).op() == Op::Fill) CHECK(n.srcCount() == 1);
      UOp shorter = shortenLoops(g, tuned), loops = lowered(g, splitTileRests(g, shorter));
      REQUIRE(shorter != tuned);
      checkStages(shorter, loops);
      for (int64_t height : {1, 2, 3, 5, 8, 13})
        for (int64_t width : {1, 2, 4, 7, 16, 19}) {
          INFO(height << " x " << width);
          const Buffers expected = conv.storedFor(plain, height, width);
          for (UOp kernel : {tuned, shorter, loops})
            CHECK(sameBuffers(expected, conv.storedFor(kernel, height, width), 0));
        }
    }
}

TEST_CASE("Windows of a depthwise convolution are copied for their own results") {
  for (int64_t step : {1, 2}) {
    const Convolution conv{step, true};
    Graph g;
    UOp plain = conv.build(g);
    UOp tuned = withOpts(g, plain, "tile(1,4) tile(3,8) order(0,1,3,2,4) window(1,5,6,3,4) upcast(3,2) vector(4,4)");
    UOp shorter = shortenLoops(g, tuned), loops = lowered(g, shorter);
    checkStages(shorter, loops);
    for (int64_t height : {1, 3, 6, 9})
      for (int64_t width : {1, 5, 8, 17})
        CHECK(sameBuffers(conv.storedFor(plain, height, width), conv.storedFor(loops, height, width), 0));
  }
}

TEST_CASE("A loop of a tile runs as far as the axis goes") {
  Graph g;
  UOp plain = Convolution{1, false}.build(g), tuned = withOpts(g, plain, "tile(1,8)");
  UOp shorter = shortenLoops(g, tuned);
  int ends = 0;
  for (UOp n : toposort(shorter)) {
    if (n.op() == Op::Range && !n.src(0).isConst() && !n.src(0).ranges().empty()) ++ends;
    if (n.op() == Op::Store) CHECK(n.src(2).isConst(1));  // nothing is left to mask
  }
  CHECK(ends == 1);
  CHECK(shortenLoops(g, shorter) == shorter);
}

TEST_CASE("A loop that two nests share ends early only where both do") {
  for (bool areAlike : {true, false}) {
    Graph g;
    Builder b(g);
    UOp rows = g.variable("rows", 1, 20), tile = b.loop(g.alu(Op::Floordiv, {b.add(rows, b.i(3)), b.i(4)})),
        row = b.loop(4);
    UOp at = simplify(g, b.add(b.mul(tile, b.i(4)), row));
    const auto nest = [&](uint32_t slot, UOp gate) {
      UOp out =
          g.indexInto(g.make(Op::Param, DType::F32, {b.i(24)}, SlotArg{slot, Space::Global}), std::vector<UOp>{at});
      UOp one = g.constant(Scalar::of(DType::F32, 1));
      UOp store = gate ? g.make(Op::Store, DType::Void, {out, one, gate}) : b.store(out, one);
      return b.end(store, {tile, row});
    };
    UOp sink = b.sink({nest(0, b.lt(at, rows)), nest(1, areAlike ? b.lt(at, rows) : UOp())});
    CHECK((shortenLoops(g, sink) != sink) == areAlike);
  }
}

TEST_CASE("A loop stays whole where nests that share it run it at different depths") {
  Graph g;
  Builder b(g);
  UOp rows = g.variable("rows", 1, 20), row = b.loop(4), column = b.loop(3), at = b.add(row, column);
  const auto nest = [&](uint32_t slot, std::vector<UOp> loops) {
    UOp out = g.indexInto(g.make(Op::Param, DType::F32, {b.i(24)}, SlotArg{slot, Space::Global}), std::vector<UOp>{at});
    UOp one = g.constant(Scalar::of(DType::F32, 1));
    return b.end(g.make(Op::Store, DType::Void, {out, one, b.lt(at, rows)}), std::move(loops));
  };
  UOp sink = b.sink({nest(0, {row, column}), nest(1, {column, row})});
  for (UOp n : toposort(shortenLoops(g, sink)))
    if (n.op() == Op::Store) CHECK(n.src(2).op() == Op::Lt);
}
