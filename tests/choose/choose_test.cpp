#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <set>

#include "choose/choose.h"
#include "choose/size_points.h"
#include "choose/strategies.h"
#include "facts/patterns.h"
#include "ir/text.h"
#include "ir/tile_unit.h"
#include "ir/verify.h"
#include "opts/kernel_parts.h"
#include "opts/kernels.h"
#include "opts/machines.h"
#include "opts/replay.h"

using namespace svod;

namespace {

/// Pairs of results from what they share: out[c, 2 t + j] of a[t, c] and b[t, c].
UOp buildPairs(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp channel = b.loop(s.m), tile = b.loop(s.n), pair = b.loop(2);
  UOp x = b.read(1, {s.n, s.m}, {tile, channel}), y = b.read(2, {s.n, s.m}, {tile, channel});
  UOp sum = b.add(x, y), product = b.mul(x, y);
  for (int i = 0; i < 4; ++i) sum = b.add(b.mul(sum, x), y), product = b.mul(b.add(product, y), x);
  UOp value = g.alu(Op::Where, {g.alu(Op::Lt, {pair, b.i(1)}), sum, product});
  return b.sink(
      {b.end(b.store(b.at(0, DType::F32, {s.m, s.n, 2}, {channel, tile, pair}), value), {channel, tile, pair})});
}

/// Windows of lines, which stand turned in the result: out[t, c] of a[c, 2 t] and a[c, 2 t + 1].
UOp buildTurnedWindows(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp tile = b.loop(s.n), channel = b.loop(s.m), first = b.mul(tile, b.i(2));
  UOp left = b.read(1, {s.m, 2 * s.n}, {channel, first});
  UOp right = b.read(1, {s.m, 2 * s.n}, {channel, b.add(first, b.i(1))});
  return b.sink(
      {b.end(b.store(b.at(0, DType::F32, {s.n, s.m}, {tile, channel}), b.sub(left, right)), {tile, channel})});
}

std::string chosen(UOp (*build)(Graph&, const Sizes&), const Sizes& sizes, const Caps& caps) {
  Graph g;
  UOp sink = build(g, sizes);
  std::vector<OptOp> opts = chooseOpts(g, sink, caps);
  auto tuned = applyOpts(g, sink, opts, caps);
  INFO(toText(opts));
  REQUIRE(tuned);
  REQUIRE(checkEffects(*tuned, opts));
  Status status = verify(*tuned, Stage::Kernel);
  INFO((status ? "" : toText(status.error())));
  REQUIRE(status);
  return toText(opts);
}

Caps withTiles() {
  Caps caps = avx512();
  caps.mixedDots = true;
  for (const TileUnit& unit : allTileUnits()) caps.tiles.push_back(&unit);
  return caps;
}

/// Sums of the first elements of a row, each up to its own place: the results share what they read.
UOp buildPrefixes(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.n, AxisType::Reduce);
  UOp term = g.load(b.at(1, DType::F32, {s.m, s.n}, {r0, k}), g.constant(Scalar::of(DType::F32, 0)),
                    b.lt(k, b.add(r1, b.i(1))));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), b.reduce(Op::Add, term, {k})), {r0, r1})});
}

/// A product behind three functions of its sums, as in a recurrent layer.
UOp buildProductOfGates(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k = b.loop(s.k, AxisType::Reduce);
  UOp sum = b.reduce(Op::Add, b.mul(b.read(1, {s.m, s.k}, {r0, k}), b.read(2, {s.k, s.n}, {k, r1})), {k});
  UOp gates = b.add(g.alu(Op::Sin, {sum}), b.add(g.alu(Op::Exp, {sum}), g.alu(Op::Tanh, {sum})));
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), gates), {r0, r1})});
}

/// A product whose rows are divided by the sums of their weights, as behind a softmax.
UOp buildWeightedRows(Graph& g, const Sizes& s) {
  Builder b(g);
  UOp r0 = b.loop(s.m), r1 = b.loop(s.n), k0 = b.loop(s.k, AxisType::Reduce), k1 = b.loop(s.k, AxisType::Reduce);
  UOp product = b.mul(b.read(1, {s.m, s.k}, {r0, k0}), b.read(2, {s.k, s.n}, {k0, r1}));
  UOp weight = b.reduce(Op::Add, b.read(1, {s.m, s.k}, {r0, k1}), {k1});
  UOp mean = g.alu(Op::Fdiv, {b.reduce(Op::Add, product, {k0}), weight});
  return b.sink({b.end(b.store(b.at(0, DType::F32, {s.m, s.n}, {r0, r1}), mean), {r0, r1})});
}

Caps strictly() {
  Caps caps = avx512();
  caps.numerics = Numerics::Strict;
  return caps;
}

}  // namespace

TEST_CASE("Every choice says why") {
  for (const TestKernel& kernel : testKernels())
    for (int64_t size : {int64_t{7}, int64_t{64}, int64_t{300}})
      for (bool grid : {false, true}) {
        Caps caps = avx512();
        caps.workgroups = grid, caps.threads = !grid, caps.l3Bytes = 1 << 16;
        Graph g;
        UOp sink = kernel.build(g, {size, size, 5});
        Choice choice = choose(g, sink, caps);
        const bool inGroups = !choice.opts.empty() && choice.opts[0].why == "rows of a group read the same";
        CHECK(choice.pattern == (inGroups ? Pattern::Gemm : patternOf(sink)));
        for (const ChosenOpt& chosen : choice.opts) {
          INFO(kernel.name << " " << size << " " << toText(chosen.opt));
          CHECK(!chosen.why.empty());
        }
      }
}

TEST_CASE("What the heuristic chooses for products of matrices") {
  const Caps caps = avx512();
  const Caps sse;
  CHECK(chosen(buildMatmul, {512, 512, 512}, caps) ==
        "tile(n1,64) order(n1.o,n0) pack(2,k0,n1.i) vector(p2.n1.i,16) upcast(p2.n1.i,4) upcast(n0,6) "
        "vector(n1.i,16) upcast(n1.i,4) unroll(k0,2) thread(n1.o,1) thread(n0,22)");
  CHECK(chosen(buildMatmul, {512, 512, 512}, sse) ==
        "tile(n1,8) order(n1.o,n0) pack(2,k0,n1.i) vector(p2.n1.i,4) upcast(p2.n1.i,2) upcast(n0,6) "
        "vector(n1.i,4) upcast(n1.i,2) unroll(k0,4) thread(n1.o,1)");
  CHECK_THAT(chosen(buildMatmul, {700, 700, 5}, caps), !Catch::Contains("order(") && !Catch::Contains("pack("));
  CHECK(chosen(buildMatmul, {64, 64, 64}, caps) ==
        "tile(n1,32) order(n1.o,n0) upcast(n0,8) vector(n1.i,16) upcast(n1.i,2) thread(n1.o,1) thread(n0,1)");
  CHECK(chosen(buildMatmul, {100, 100, 100}, caps) ==
        "tile(n1,32) order(n1.o,n0) upcast(n0,10) vector(n1.i,16) upcast(n1.i,2) prefetch(2,k0,32) thread(n1.o,1) "
        "thread(n0,1)");
  for (Sizes s : {Sizes{64, 64, 64}, Sizes{512, 512, 512}, Sizes{196, 512, 2048}})  // the panel is not that of a bias
    CHECK(chosen(buildMatmulBias, s, caps) == chosen(buildMatmul, s, caps));
  CHECK(chosen(buildGroups, {64, 64, 64}, caps) ==
        "tile(n0,64) tile(n1,32) order(n1.o,n0.i) upcast(n0.i,8) vector(n1.i,16) upcast(n1.i,2) thread(n0.o,1) "
        "thread(n1.o,1) thread(n0.i,1)");
  CHECK_THAT(chosen(buildGroups, {2, 64, 64}, caps), !Catch::StartsWith("tile"));  // too few rows share a group
  CHECK(chosen(buildMatmul, {512, 512, 512}, strictly()) ==
        "tile(n1,64) order(n1.o,n0) pack(2,k0,n1.i) vector(p2.n1.i,16) upcast(p2.n1.i,4) upcast(n0,6) "
        "vector(n1.i,16) upcast(n1.i,4) unroll(k0,2) thread(n1.o,1) thread(n0,22)");
}

TEST_CASE("Columns of short sums go outside of rows, and those beside them are prefetched, where lines are whole") {
  const std::string whole = chosen(buildMatmul, {48, 3136, 24}, avx512());
  CHECK_THAT(whole, Catch::Contains("order(n1,n0) prefetch(2,k0,32)"));
  const std::string broken = chosen(buildMatmul, {48, 3137, 24}, avx512());
  CHECK_THAT(broken, !Catch::Contains("order("));
  const std::string near = chosen(buildMatmul, {48, 256, 24}, avx512());  // fits L1
  CHECK_THAT(near, !Catch::Contains("prefetch("));
  Caps weights = avx512();
  weights.constants = {2};  // stand in the order in which they are read
  CHECK_THAT(chosen(buildMatmul, {48, 3136, 24}, weights), Catch::Contains("prefetch(2,k0,1024)"));  // in their order
  CHECK_THAT(chosen(buildMatmul, {48, 96, 24}, weights), !Catch::Contains("prefetch("));             // they fit L1
}

TEST_CASE("Where columns would be gone before the next tile reads them, those of the next rows are prefetched") {
  CHECK_THAT(chosen(buildMatmul, {16, 512, 512}, avx512()), Catch::Contains("prefetch(2,k0,4096)"));
  CHECK_THAT(chosen(buildMatmul, {16, 528, 512}, avx512()), Catch::Contains("prefetch(2,k0,48)"));
}

TEST_CASE("Tiles of sums behind many functions are small, as each of them is code") {
  CHECK(chosen(buildMatmul, {48, 256, 256}, avx512()) ==
        "tile(n1,32) order(n1.o,n0) upcast(n0,12) vector(n1.i,16) upcast(n1.i,2) unroll(k0,2) prefetch(2,k0,2048) "
        "thread(n1.o,1) thread(n0,1)");
  CHECK(chosen(buildProductOfGates, {48, 256, 256}, avx512()) ==
        "tile(n1,32) order(n1.o,n0) upcast(n0,4) vector(n1.i,16) upcast(n1.i,2) unroll(k0,4) prefetch(2,k0,2048) "
        "thread(n1.o,1) thread(n0,1)");
}

TEST_CASE("Rows of a register tile hide the latency of their sums without copies of each") {
  CHECK(chosen(buildWeightedRows, {48, 64, 256}, avx512()) ==
        "tile(n1,32) order(n1.o,n0) upcast(n0,12) vector(n1.i,16) upcast(n1.i,2) unroll(k0,2) vector(k1,16) "
        "prefetch(2,k0,32)");
}

TEST_CASE("What the heuristic chooses for products whose rows lie across memory") {
  const Caps caps = avx512();
  CHECK(chosen(buildMatmulAcross, {1024, 1024, 1024}, caps) ==
        "tile(n0,132) tile(n1,64) order(n1.o,n0.i) pack(2,k0,n1.i) vector(p2.n1.i,16) upcast(p2.n1.i,4) "
        "pack(1,n0.i,k0) vector(p1.k0,16) upcast(p1.n0.i,16) upcast(n0.i,6) vector(n1.i,16) upcast(n1.i,4) "
        "unroll(k0,2) thread(n0.o,1) thread(n1.o,4)");
  // Of one block of many terms, as many rows as the second level cache keeps; without blocks there is room for few.
  CHECK_THAT(chosen(buildMatmulAcross, {512, 512, 65536}, caps), Catch::StartsWith("tile(k0,512) tile(n0,132) ") &&
                                                                     Catch::Contains("pack(1,") &&
                                                                     Catch::Contains("kblock("));
  CHECK_THAT(chosen(buildMatmulAcross, {1024, 512, 16384}, strictly()),
             Catch::StartsWith("tile(n0,64) ") && Catch::Contains("pack(1,"));
  for (int64_t terms : {32768, 524288})
    CHECK_THAT(chosen(buildMatmulAcross, {512, 512, terms}, strictly()), !Catch::Contains("pack(1,"));
  for (Sizes s : {Sizes{1024, 1024, 64}, Sizes{64, 256, 1024}, Sizes{1024, 16, 1024}})  // few terms, columns
    CHECK_THAT(chosen(buildMatmulAcross, s, caps), !Catch::Contains("pack(1,"));
  // What stays in the second level cache, and not in the first, is turned where many columns read it.
  CHECK_THAT(chosen(buildMatmulAcross, {64, 1024, 1024}, caps), Catch::Contains("pack(1,n0,k0)"));
  CHECK_THAT(chosen(buildMatmulAcross, {32, 1024, 48}, caps), !Catch::Contains("pack(1,"));
}

TEST_CASE("What the heuristic chooses for rows that are read several times") {
  const Caps caps = avx512();
  CHECK(chosen(buildSoftmax, {512, 512, 0}, caps) ==
        "share(n1,k0,k1) vector(n1,16) upcast(n1,4) vector(k0,16) acc(k0,8) vector(r.n1,16) upcast(r.n1,4) "
        "vector(k1,16) acc(k1,8) thread(n0,1)");
  CHECK(chosen(buildSoftmax, {512, 512, 0}, strictly()) ==
        "share(n1,k0,k1) vector(n1,16) upcast(n1,4) vector(r.n1,16) upcast(r.n1,4) thread(n0,1)");
  CHECK(chosen(buildAttention, {512, 64, 64}, caps) ==
        "tile(n0,32) hold(s0,n0.i) hold(s1,h.n0.i) hold(k2,n0.i) pack(1,k0,h.h.n0.i) "
        "vector(p1.h.h.n0.i,16) upcast(p1.k0,16) upcast(s1,10) vector(h.h.n0.i,16) upcast(h.h.n0.i,2) "
        "order(h.n0.i,s0) vector(h.n0.i,16) upcast(h.n0.i,2) vector(h_2.n0.i,16) upcast(h_2.n0.i,2) "
        "upcast(n0.i,8) vector(n1,16) upcast(n1,2) thread(n0.o,1)");
  CHECK_THAT(chosen(buildAttention, {512, 64, 64}, strictly()), Catch::Contains("hold("));
  CHECK_THAT(chosen(buildAttention, {8, 64, 64}, caps), !Catch::Contains("hold("));  // fewer rows than lanes
}

TEST_CASE("What the heuristic chooses for streams and sums") {
  const Caps caps = avx512();
  CHECK(chosen(buildAdd, {1000, 1000, 0}, caps) ==
        "merge(n0,n1) vector(n0+n1,16) upcast(n0+n1,4) thread(n0+n1,1) prefetch(1,n0+n1,1024) prefetch(2,n0+n1,1024)");
  CHECK(chosen(buildTranspose, {512, 512, 0}, caps) ==
        "vector(n1,16) upcast(n0,16) order(n1,n0) thread(n1,1) thread(n0,1)");
  CHECK(chosen(buildRowSum, {512, 512, 0}, caps) == "vector(k0,16) acc(k0,8) thread(n0,1)");
  CHECK(chosen(buildRowSum, {512, 512, 0}, strictly()) == "vector(n0,16) upcast(n0,16) thread(n0,1)");
  CHECK(chosen(buildColumnSum, {512, 512, 0}, caps) == "vector(n0,16) upcast(n0,16) thread(n0,1)");
  CHECK(chosen(buildFullMax, {512, 512, 0}, caps) == "merge(k0,k1) vector(k0+k1,16) acc(k0+k1,8)");
  CHECK(chosen(buildAdd, {3, 5, 0}, caps) == "merge(n0,n1) vector(n0+n1,16)");
}

TEST_CASE("Where pairs of results lie across lanes, two pairs are stored at once") {
  CHECK_THAT(chosen(buildPairs, {64, 28, 0}, avx512()), Catch::Contains("vector(n0,16) upcast(n1,2)"));
  CHECK_THAT(chosen(buildPairs, {64, 7, 0}, avx512()), !Catch::Contains("upcast(n1,2)"));  // one would be done twice
}

TEST_CASE("Weights are prefetched where the first of few sweeps waits for them") {
  Caps weights = avx512();
  weights.constants = {2};
  for (int64_t rows : {8, 96, 384})
    CHECK_THAT(chosen(buildMatmul, {rows, 512, 512}, weights), Catch::Contains("prefetch(2,"));
  CHECK_THAT(chosen(buildMatmul, {2048, 512, 512}, weights), !Catch::Contains("prefetch(2,"));
}

TEST_CASE("Windows that are turned go two at a time where none is done twice") {
  CHECK_THAT(chosen(buildTurnedWindows, {64, 28, 0}, avx512()), Catch::Contains("upcast(n0,2)"));
  CHECK_THAT(chosen(buildTurnedWindows, {64, 7, 0}, avx512()), !Catch::Contains("upcast(n0,2)"));
}

TEST_CASE("What the heuristic chooses for convolutions") {
  const Caps caps = avx512();
  Caps weights = caps;
  weights.constants = {2};
  // Few elements: lanes along filters, rows along neighbours in the image. Panels outside where all images stay in
  // cache.
  CHECK(chosen(buildPointwise, {512, 49, 512}, weights) ==
        "tile(n1,64) upcast(n2,5) vector(n1.i,16) upcast(n1.i,4) unroll(k0,2) prefetch(1,k0,2352) "
        "prefetch(2,k0,1024) thread(n0,1) thread(n1.o,1)");  // 48 rows
  CHECK(chosen(buildPointwise, {2048, 49, 256}, weights) ==
        "tile(n1,48) order(n1.o,n0) upcast(n2,7) vector(n1.i,16) upcast(n1.i,3) unroll(k0,2) "
        "prefetch(1,k0,2352) prefetch(2,k0,1024) thread(n1.o,1) thread(n0,1)");
  CHECK(chosen(buildConv1d, {64, 4096, 5}, caps) ==
        "tile(n1,128) order(n1.o,n0,n1.i) pack(1,k0,n1.i) vector(p1.n1.i,16) upcast(n0,8) vector(n1.i,16) "
        "upcast(n1.i,2) unroll(k0,5) thread(n1.o,1)");
  CHECK(chosen(buildConv2d, {64, 28, 28}, caps) ==
        "tile(n1,4) order(n1.o,n0,n1.i,n2) window(1,k0,k1,k2,n1.i,n2) pitch(n1.i,n2,30) vector(p1.k2,16) "
        "upcast(p1.k2,0) upcast(n0,5) vector(n1.i+n2,16) upcast(n1.i+n2,4) unroll(k2,3) unroll(k1,3) "
        "unroll(k0,2) thread(n1.o,1)");
  CHECK_THAT(chosen(buildConv2dStep2, {64, 28, 28}, caps), Catch::Contains("window("));
  Caps few = caps;
  few.vectorBytes = 32, few.vectorRegisters = 16, few.maskedBytes = 0;  // a body of many products would spill results
  CHECK_THAT(chosen(buildDeepConv2d, {64, 28, 28}, few),
             Catch::Contains("unroll(k1,3)") && !Catch::Contains("unroll(k0"));
  Caps smallL1 = caps;
  smallL1.l1Bytes = 2 << 10;
  CHECK_THAT(chosen(buildDeepConv2d, {64, 28, 28}, smallL1), Catch::EndsWith(" prefetch(1,k0,360)"));
  CHECK_THAT(chosen(buildDeepConv2d, {64, 28, 28}, caps), !Catch::Contains("prefetch"));
  CHECK_THAT(chosen(buildDilatedConv2d, {64, 28, 28}, caps), Catch::Contains("window(1,"));
  CHECK_THAT(chosen(buildColumnConv2d, {64, 28, 28}, caps), Catch::Contains("window(1,"));
  CHECK_THAT(chosen(buildConv2d, {64, 7, 7}, caps), Catch::StartsWith("window(1,k0,k1,k2,n1,n2) pitch(n1,n2,9) "));
}

TEST_CASE("What the heuristic chooses where there are dot products") {
  Caps caps = avx512();
  caps.mixedDots = true;
  auto unlike = [](Graph& g, const Sizes& s) { return buildByteMatmul(g, s, {}); };
  auto alike = [](Graph& g, const Sizes& s) { return buildByteMatmul(g, s, {DType::I8, DType::I8}); };
  CHECK(chosen(unlike, {512, 512, 512}, caps) ==
        "dot(k0,4) tile(n1,32) order(n1.o,n0) pack(2,k0,n1.i) vector(p2.n1.i,16) upcast(p2.k0.d,0) "
        "upcast(n0,12) vector(n1.i,16) upcast(n1.i,2) thread(n1.o,1)");
  CHECK_THAT(chosen(alike, {512, 512, 512}, caps), Catch::StartsWith("dot(k0,4) dot(z.k0,4) vector(z.k0,16) "));
  CHECK_THAT(chosen(alike, {512, 512, 510}, caps), Catch::StartsWith("dot(k0,4) vector(z.k0,16) "));
  CHECK_THAT(chosen(unlike, {2, 512, 512}, caps), !Catch::Contains("dot"));  // too few rows for a copy
  CHECK_THAT(chosen(buildBf16<false>, {512, 512, 512}, caps), !Catch::Contains("dot"));
  caps.numerics = Numerics::Fast, caps.bf16Dots = true;
  CHECK(chosen(buildBf16<false>, {512, 512, 512}, caps) ==
        "dot(k0,2) tile(n1,32) order(n1.o,n0) pack(2,k0,n1.i) vector(p2.n1.i,8) upcast(p2.k0.d,0) "
        "upcast(n0,12) vector(n1.i,16) upcast(n1.i,2) thread(n1.o,1)");
  CHECK(chosen(buildBf16<true>, {512, 512, 512}, caps) ==
        "dot(k0,2) tile(n1,32) order(n1.o,n0) pack(2,k0,n1.i) upcast(p2.k0.d,0) upcast(n0,12) "
        "vector(n1.i,16) upcast(n1.i,2) thread(n1.o,1)");
  CHECK_THAT(chosen(buildBf16<false>, {512, 512, 511}, caps), Catch::StartsWith("dot(k0,2) "));
  CHECK_THAT(chosen(buildBf16<false>, {2, 512, 512}, caps), !Catch::Contains("dot"));
}

TEST_CASE("Every seed of a kernel keeps its value, and of short kernels the first is chosen") {
  std::set<std::string_view> seen, branches;
  std::vector<TestKernel> kernels(testKernels().begin(), testKernels().end());
  kernels.push_back({"prefixes", buildPrefixes});
  kernels.push_back({"matmul-weights", buildMatmul});
  kernels.push_back({"conv2d-bytes", buildByteConv2d});
  kernels.push_back({"conv2d-bytes-step2", buildByteConv2dStep2});
  kernels.push_back({"conv2d-bytes-deep", buildDeepByteConv2d});
  for (const TestKernel& kernel : kernels)
    for (const Sizes& sizes :
         {Sizes{18, 13, 9}, Sizes{40, 16, 3}, Sizes{5, 7, 4}, Sizes{16, 40, 18}, Sizes{40, 36, 2}, Sizes{16, 4, 16}}) {
      std::optional<Buffers> expected;  // of the kernel alone, whatever the machine
      for (int machine = 0; machine < 4; ++machine) {
        Caps caps = machine == 0 ? Caps{} : avx512();
        if (machine == 1) caps.l1Bytes = 1 << 10, caps.l2Bytes = 1 << 12;
        if (machine > 1) caps.workgroups = true, caps.threads = false;
        if (machine == 3) caps.cores = tensorCoresOf(GpuFamily::Metal, 7);
        if (machine == 0 && kernel.name == "conv2d-bytes-deep") caps = withTiles();
        const bool hasWeights = kernel.name.starts_with("conv2d") || kernel.name == "matmul-weights";
        if (machine == 0 && hasWeights) caps.constants = {2};
        if (sizes.k == 18 && kernel.name != "matmul") continue;                 // terms enough for panels
        if (sizes.n == 36 && kernel.name != "transpose") continue;              // enough for squares
        if (sizes.m > 20 && kernel.name.starts_with("conv2d-bytes")) continue;  // many products to interpret
        if ((sizes.k == 16) != (kernel.name == "conv2d-bytes-deep")) continue;  // filters that fill a tile
        if (sizes.k == 16 && machine > 0) continue;
        if (machine > 1 && sizes.n != (machine == 2 ? 7 : 13) && sizes.n != 36) continue;
        Graph g;
        UOp sink = kernel.build(g, sizes);
        if (!expected) expected = resultOf(sink);
        const std::vector<PricedSeed> seeds = seedsOf(g, sink, caps);
        REQUIRE(!seeds.empty());
        const Choice chosen = choose(g, sink, caps);
        const bool isFixed = SizePoints(sink).all().empty();
        CHECK((!isFixed || chosen.strategy == seeds[0].choice.strategy));
        CHECK((!isFixed || optsOf(chosen) == optsOf(seeds[0].choice)));
        CHECK(!chosen.why.empty());
        for (const auto& [seed, time] : seeds) {
          CHECK(time > 0);
          INFO(kernel.name << " " << sizes.m << "x" << sizes.n << "x" << sizes.k << " " << seed.strategy << ": "
                           << toText(optsOf(seed)));
          auto tuned = applyOpts(g, sink, optsOf(seed), caps);
          REQUIRE(tuned);
          REQUIRE(verify(*tuned, Stage::Kernel));
          REQUIRE(sameBuffers(*expected, resultOf(*tuned), 1e-5));
          seen.insert(seed.strategy), branches.insert(seed.branch);
        }
      }
    }
  for (const Strategy& strategy : strategies()) {
    INFO(strategy.name);
    CHECK(seen.count(strategy.name) == 1);
  }
  for (const BranchInfo& branch : allBranches()) {
    INFO(branch.name);
    CHECK(branches.count(branch.name) == 1);
  }
}

TEST_CASE("Convolutions with constant weights have a seed whose lanes are filters, in tiles that waste none") {
  const auto seed = [](UOp (*build)(Graph&, const Sizes&), const Sizes& sizes, const Caps& caps) {
    Graph g;
    for (const auto& [choice, time] : seedsOf(g, build(g, sizes), caps))
      if (choice.strategy == "filter-lanes") return toText(optsOf(choice));
    return std::string();
  };
  Caps weights = avx512();
  weights.constants = {2}, weights.threads = false;
  CHECK(seed(buildConv2d, {64, 7, 7}, weights) ==
        "window(1,k0,k1,k2,n1,n2) vector(p1.k2,8) upcast(p1.k2,0) vector(n0,16) upcast(n0,2) upcast(n2,7) "
        "unroll(k2,3) unroll(k1,3) unroll(k0,2)");
  CHECK_THAT(seed(buildConv2d, {48, 14, 14}, weights), Catch::Contains("upcast(n0,3) upcast(n2,7)"));
  CHECK_THAT(seed(buildConv2dStep2, {64, 28, 28}, weights), Catch::StartsWith("window("));
  CHECK(seed(buildConv2d, {64, 7, 7}, avx512()).empty());  // weights lie across the lanes
  CHECK(seed(buildConv2d, {15, 7, 7}, weights).empty());   // less than a vector
}

namespace {

/// How many times as fast as the first seed another one has to be.
double marginOf(const Choice& first, const Choice& other) {
  const auto row = [](std::string_view name) { return *std::ranges::find(strategies(), name, &Strategy::name); };
  return other.branch.empty() && arePricedAlike(row(first.strategy), row(other.strategy)) ? 1.02 : 1.9;
}

}  // namespace

TEST_CASE("Of two lists for a convolution over a copy the cheaper one is taken") {
  Graph g;
  Caps caps = avx512();
  caps.constants = {2}, caps.threads = false;
  for (const Sizes& sizes : {Sizes{512, 7, 7}, Sizes{64, 56, 56}}) {
    UOp sink = buildDeepConv2d(g, sizes);
    double least = 0;
    std::string cheapest;
    for (const auto& [choice, time] : seedsOf(g, sink, caps))
      if ((choice.strategy == "direct-conv" || choice.strategy == "filter-lanes") && choice.branch.empty() &&
          (cheapest.empty() || time * 1.02 < least))
        least = time, cheapest = choice.strategy;
    CHECK(choose(g, sink, caps).strategy == cheapest);
  }
  CHECK(choose(g, buildDeepConv2d(g, {512, 7, 7}), caps).strategy == "filter-lanes");
}

TEST_CASE("Bytes under windows are summed in groups of channels, with lanes along filters") {
  Caps caps = avx512();
  caps.constants = {2}, caps.threads = false, caps.mixedDots = true;
  CHECK_THAT(chosen(buildByteConv2d, {64, 28, 28}, caps),
             Catch::StartsWith("dot(k0,4) window(1,k0,k1,k2,n1,n2) vector(p1.k2,16) upcast(p1.k0.d,0) vector(n0,16) "));
  CHECK_THAT(chosen(buildByteConv2dStep2, {64, 28, 28}, caps), Catch::StartsWith("dot(k0,4) window("));
  caps.mixedDots = false;
  CHECK_THAT(chosen(buildByteConv2d, {64, 28, 28}, caps), !Catch::Contains("dot"));
}

TEST_CASE("Bytes under windows are multiplied in the tile unit, filters by columns") {
  Caps caps = withTiles();
  caps.constants = {2}, caps.threads = false;
  CHECK(chosen(buildDeepByteConv2d, {64, 28, 28}, caps) ==
        "dot(k0,4) window(1,k0,k1,k2,n1,n2) vector(p1.k2,16) upcast(p1.k0.d,0) tc(1,n0,n2,k0) upcast(n0.o,2) "
        "upcast(n2.o,2)");
  CHECK_THAT(chosen(buildDeepByteConv2d, {64, 7, 7}, caps),
             Catch::Contains(" pitch(n1,n2,9) ") && Catch::Contains(" tc(1,n0,n1+n2,k0) "));
  CHECK_THAT(chosen(buildByteConv2d, {64, 28, 28}, caps), !Catch::Contains("tc("));     // 8 channels
  CHECK_THAT(chosen(buildDeepByteConv2d, {8, 28, 28}, caps), !Catch::Contains("tc("));  // 8 filters
  caps.constants = {};
  CHECK_THAT(chosen(buildDeepByteConv2d, {64, 28, 28}, caps), !Catch::Contains("tc("));  // weights in their own order
}

TEST_CASE("The chosen seed is the first, or one that is expected to be clearly faster") {
  int displaced = 0;
  for (const TestKernel& kernel : testKernels())
    for (const Sizes& sizes : {Sizes{16, 40, 18}, Sizes{32, 64, 64}}) {
      Caps caps = avx512();
      caps.l1Bytes = 1 << 10, caps.l2Bytes = 1 << 12, caps.threads = false;
      Graph g;
      UOp sink = kernel.build(g, sizes);
      const std::vector<PricedSeed> seeds = seedsOf(g, sink, caps);
      const Choice chosen = choose(g, sink, caps);
      const auto at =
          std::ranges::find_if(seeds, [&](const PricedSeed& s) { return optsOf(s.choice) == optsOf(chosen); });
      INFO(kernel.name << " " << toText(optsOf(chosen)) << ": " << chosen.why);
      REQUIRE(at != seeds.end());
      CHECK((at == seeds.begin()) == (chosen.why.find("expected to be") != 0));
      if (at == seeds.begin()) continue;
      ++displaced;
      const double margin = marginOf(seeds[0].choice, at->choice);
      CHECK(margin * at->nanoseconds < seeds[0].nanoseconds);
      for (const PricedSeed& other : seeds)
        CHECK(margin * at->nanoseconds <= marginOf(seeds[0].choice, other.choice) * other.nanoseconds);
    }
  CHECK(displaced > 0);
}

TEST_CASE("The heuristic keeps the value of every test kernel, strictly where asked") {
  for (uint32_t seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    const TestKernel& kernel = testKernels()[seed % testKernels().size()];
    auto size = [&] {
      return random() % 3 == 0 ? 8 * (1 + static_cast<int64_t>(random() % 2)) : 1 + static_cast<int64_t>(random() % 19);
    };
    Sizes sizes{size(), size(), 1 + static_cast<int64_t>(random() % 9)};
    Caps caps = random() % 2 ? avx512() : Caps{};
    if (random() % 2) caps.numerics = Numerics::Strict;
    if (random() % 4 == 0)
      caps.workgroups = true, caps.threads = false, caps.cores = tensorCoresOf(GpuFamily::Metal, 7);
    caps.mixedDots = random() % 2, caps.likeDots = random() % 2;
    if (random() % 3 == 0) caps.numerics = Numerics::Fast, caps.bf16Dots = true;
    Graph g;
    UOp sink = kernel.build(g, sizes);
    std::vector<OptOp> opts = chooseOpts(g, sink, caps);
    auto tuned = applyOpts(g, sink, opts, caps);
    INFO("seed " << seed << " kernel " << kernel.name << " " << sizes.m << "x" << sizes.n << "x" << sizes.k << ": "
                 << toText(opts));
    REQUIRE(tuned);
    REQUIRE(checkEffects(*tuned, opts));
    REQUIRE(verify(*tuned, Stage::Kernel));
    REQUIRE(sameBuffers(resultOf(sink), resultOf(*tuned), caps.numerics == Numerics::Strict ? 0 : 1e-5));
  }
}
