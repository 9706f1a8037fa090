#include <catch2/catch.hpp>

#include "choose/choose.h"
#include "constants/constant_layout.h"
#include "ir/verify.h"
#include "machine/gpu.h"
#include "opts/kernel_parts.h"
#include "opts/kernels.h"
#include "opts/replay.h"

using namespace svod;

namespace {

struct Reordered {
  std::vector<ConstantLayout> layouts;
  UOp sink;
};

/// Lays out what can be of all operands after `opts`, and runs both kernels.
Reordered checked(Graph& g, UOp sink, std::string_view opts, const Caps& caps = {},
                  const std::vector<ConstantLayout>& given = {}) {
  INFO(opts);
  auto list = parseOpts(opts);
  REQUIRE(list);
  auto changed = applyOpts(g, sink, *list, caps);
  if (!changed) FAIL(toText(changed.error()));
  Buffers expected = resultOf(*changed), buffers = makeBuffers(*changed);
  std::vector<uint32_t> operands;
  for (uint32_t slot = 1; slot < buffers.size(); ++slot) operands.push_back(slot);
  Reordered result;
  result.sink = layOutConstants(g, *changed, operands, given, result.layouts);
  Status valid = verify(result.sink, Stage::Kernel);
  if (!valid) FAIL(toText(valid.error()));
  for (const ConstantLayout& l : result.layouts) {
    HostTensor& operand = buffers[l.slot];
    const LargeBytes moved = laidOut(l, operand.data, static_cast<size_t>(byteSize(operand.dtype)));
    operand.data.assign(moved.begin(), moved.end());
    operand.dims = {l.elements()};
    expected[l.slot] = operand;
  }
  Status ran = interpretKernel(result.sink, buffers, valuesOf(*changed));
  if (!ran) FAIL(toText(ran.error()));
  CHECK(sameBuffers(expected, buffers, 0));
  CHECK(layoutsFromText(toText(result.layouts)) == result.layouts);
  return result;
}

}  // namespace

TEST_CASE("panels of a matrix product stand one after the other") {
  Graph g;
  Reordered r = checked(g, buildMatmul(g, {8, 32, 6}), "order(1,0) upcast(1,4) vector(0,8)");
  REQUIRE(r.layouts.size() == 2);
  CHECK(r.layouts[1].slot == 2);
  CHECK(r.layouts[1].dims == std::vector<ConstantLayout::Dim>{{4, 8, 0}, {6, 32, 0}, {8, 1, 0}});
  CHECK(r.layouts[1].table == std::vector<int64_t>{0});
}

TEST_CASE("blocks of a reduce stand in the order in which they pass") {
  Graph g;
  Reordered r = checked(g, buildMatmul(g, {8, 32, 12}),
                        "tile(2,6) tile(1,16) order(1,0,2) upcast(1,4) vector(2,8) upcast(2,0) kblock(3,0,1)");
  auto matrix = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
  REQUIRE(matrix != r.layouts.end());
  CHECK(matrix->dims == std::vector<ConstantLayout::Dim>{{2, 192, 0}, {2, 16, 0}, {6, 32, 0}, {2, 8, 0}, {8, 1, 0}});
}

TEST_CASE("pairs of bf16 that one instruction sums up stand side by side") {
  Graph g;
  Caps caps;
  caps.numerics = Numerics::Fast;
  for (bool byRows : {false, true}) {
    Reordered r = checked(g, buildBf16Matmul(g, {8, 32, 12}, byRows),
                          "dot(2,2) tile(1,16) order(1,0) upcast(1,4) vector(2,8) upcast(2,0)", caps);
    auto matrix = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
    REQUIRE(matrix != r.layouts.end());
    CHECK(matrix->dims.back().extent == 2);
    CHECK(matrix->dims.back().stride == (byRows ? 1 : 32));
    checked(g, buildBf16Matmul(g, {7, 35, 13}, byRows),
            "dot(2,2) tile(1,16) order(1,0) upcast(1,4) vector(2,8) upcast(2,0)", caps);
  }
}

TEST_CASE("remainders that step back and merged loops are read in order") {
  for (Sizes s : {Sizes{7, 35, 5}, Sizes{17, 33, 3}, Sizes{9, 70, 4}}) {
    Graph g;
    UOp sink = buildMatmul(g, s);
    CHECK(checked(g, sink, "order(1,0) upcast(1,4) vector(0,16) upcast(0,2) thread(0,1) thread(1,1)").layouts.size() ==
          2);
    checked(g, sink, "tile(1,32) order(1,0,2) pack(2,3,2) upcast(1,4) vector(2,16) upcast(2,0)");
    checked(g, sink, "merge(0,1) thread(0,5)");
  }
}

TEST_CASE("columns that threads share with a number of rows that a run decides are packed") {
  Graph g;
  Builder b(g);
  UOp batch = g.variable("batch", 1, 4), n = b.loop(batch), row = b.loop(14), column = b.loop(35);
  UOp k = b.loop(12, AxisType::Reduce), m = b.add(b.mul(n, b.i(14)), row);
  const auto read = [&](uint32_t slot, int64_t size, UOp at) {
    UOp operand = g.make(Op::Param, DType::F32, {b.i(size)}, SlotArg{slot, Space::Global});
    return g.load(g.indexInto(operand, std::vector<UOp>{at}));
  };
  UOp term =
      b.mul(read(1, 4 * 14 * 12, b.add(b.mul(m, b.i(12)), k)), read(2, 12 * 35, b.add(b.mul(k, b.i(35)), column)));
  UOp out = g.make(Op::Param, DType::F32, {b.i(4 * 14 * 35)}, SlotArg{0, Space::Global});
  UOp at = g.indexInto(out, std::vector<UOp>{b.add(b.mul(m, b.i(35)), column)});
  UOp sink = b.sink({b.end(b.store(at, b.reduce(Op::Add, term, {k})), {n, row, column})});
  for (const char* opts : {"tile(n2,16) order(n2.o,n0,n1) upcast(n1,3) vector(n2.i,8) upcast(n2.i,2) thread(n2.o,1) "
                           "thread(n0,1)",
                           "merge(n0,n1) tile(n2,16) order(n2.o,n0+n1) upcast(n0+n1,7) vector(n2.i,8) upcast(n2.i,2) "
                           "thread(n2.o,1) thread(n0+n1,1)"}) {
    INFO(opts);
    Reordered r = checked(g, sink, opts);
    auto matrix = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
    REQUIRE(matrix != r.layouts.end());
    CHECK(matrix->dims[0].extent == 3);  // of columns, however many the batches are
    CHECK(matrix->elements() == 3 * 12 * 16);
  }
}

TEST_CASE("columns that threads share with batches and rows that a run decides are packed") {
  Graph g;
  Builder b(g);
  UOp batch = g.variable("batch", 1, 4), rows = g.variable("rows", 1, 14);
  UOp n = b.loop(batch), column = b.loop(35), row = b.loop(rows), k = b.loop(12, AxisType::Reduce);
  const auto read = [&](uint32_t slot, int64_t size, UOp at) {
    UOp operand = g.make(Op::Param, DType::F32, {b.i(size)}, SlotArg{slot, Space::Global});
    return g.load(g.indexInto(operand, std::vector<UOp>{at}));
  };
  UOp term = b.mul(read(1, 4 * 14 * 12, b.add(b.mul(b.add(b.mul(n, b.i(14)), row), b.i(12)), k)),
                   read(2, 35 * 12, b.add(b.mul(column, b.i(12)), k)));
  UOp out = g.make(Op::Param, DType::F32, {b.i(4 * 14 * 35)}, SlotArg{0, Space::Global});
  UOp at = g.indexInto(out, std::vector<UOp>{b.add(b.mul(b.add(b.mul(n, b.i(35)), column), b.i(14)), row)});
  UOp sink = b.sink({b.end(b.store(at, b.reduce(Op::Add, term, {k})), {n, column, row})});
  Reordered r = checked(
      g, sink, "tile(n1,16) upcast(n2,3) vector(n1.i,8) upcast(n1.i,2) thread(n0,1) thread(n1.o,1) thread(n2,1)");
  auto matrix = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
  REQUIRE(matrix != r.layouts.end());
  CHECK(matrix->elements() == 3 * 12 * 16);
}

TEST_CASE("every kernel computes the same, whatever is laid out") {
  for (const TestKernel& kernel : testKernels())
    for (Sizes s : {Sizes{4, 6, 5}, Sizes{17, 33, 9}}) {
      INFO(kernel.name);
      Graph g;
      UOp sink = kernel.build(g, s);
      Caps caps;
      caps.constants = {1, 2};
      std::string opts;
      for (const OptOp& opt : chooseOpts(g, sink, caps)) opts += (opts.empty() ? "" : " ") + toText(opt);
      checked(g, sink, opts, caps);
    }
}

namespace {

/// What a GPU of generation 90 takes.
Caps capsOfGpu() {
  Caps caps = capsOf(*findGpu("sm_90"), Numerics::Contract);
  caps.constants = {1, 2};
  return caps;
}

}  // namespace

TEST_CASE("a stage that is copied step by step is one piece, whether its result waits in a buffer or not") {
  const std::string tiles =
      "tile(n0,32) tile(n1,64) order(n0.o,n1.o,n0.i,n1.i) tile(k0,16) pack(1,n0.i,k0.i) pack(2,k0.i,n1.i) "
      "local(n0.i,16) local(n1.i,16) upcast(n0.i,0) upcast(n1.i,0) unroll(k0.i,4) ";
  for (const char* stash : {"", "stash(0) "}) {
    Graph g;
    Reordered r = checked(g, buildMatmul(g, {64, 128, 32}), tiles + stash + "global(n0.o,n1.o)", capsOfGpu());
    auto matrix = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
    REQUIRE(matrix != r.layouts.end());
    // Tiles of columns, steps of k, and in each the rows and columns of the stage, four of which a thread copies at
    // once.
    CHECK(matrix->dims ==
          std::vector<ConstantLayout::Dim>{{2, 64, 0}, {2, 2048, 0}, {16, 128, 0}, {16, 4, 0}, {4, 1, 0}});
  }
}

TEST_CASE("threads of a workgroup that run side by side read side by side") {
  Graph g;
  Reordered r = checked(g, buildMatvec(g, {1, 8, 1024}), "group(k0,32) unroll(k0,4) global(n0)", capsOfGpu());
  auto matrix = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
  REQUIRE(matrix != r.layouts.end());
  // Rows, rounds of 128 terms, the 32 threads, and the four terms that each of them reads at once.
  CHECK(matrix->dims == std::vector<ConstantLayout::Dim>{{8, 1, 0}, {8, 1024, 0}, {32, 8, 0}, {4, 256, 0}});
}

TEST_CASE("a kernel reads weights in the order of another one") {
  Graph g;
  const std::vector<ConstantLayout> wide = checked(g, buildMatmul(g, {1, 96, 6}), "vector(1,8) upcast(1,6)").layouts;
  const auto matrix = std::ranges::find(wide, 2U, &ConstantLayout::slot);
  REQUIRE(matrix != wide.end());
  CHECK(matrix->dims == std::vector<ConstantLayout::Dim>{{2, 48, 0}, {6, 96, 0}, {6, 8, 0}, {8, 1, 0}});
  const auto orderWith = [&](std::string_view opts, const Sizes& sizes) {
    const Reordered r = checked(g, buildMatmul(g, sizes), opts, {}, {*matrix});
    const auto found = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
    return found == r.layouts.end() ? std::vector<ConstantLayout::Dim>() : found->dims;
  };
  CHECK(orderWith("tile(1,16) order(1,0) upcast(1,4) vector(2,8) upcast(2,2) unroll(3,2)", {8, 96, 6}) == matrix->dims);
  CHECK(orderWith("tile(1,16) order(1,0) vector(2,8) upcast(2,2)", {7, 96, 6}) == matrix->dims);
  CHECK(orderWith("", {3, 96, 6}) == matrix->dims);
  CHECK(orderWith("tile(1,32) order(1,0) vector(2,8) upcast(2,4)", {8, 96, 6}) == matrix->dims);
  CHECK(orderWith("tile(1,32) order(1,0) vector(2,32)", {8, 96, 6}) ==
        std::vector<ConstantLayout::Dim>{{3, 32, 0}, {6, 96, 0}, {32, 1, 0}});  // lanes in two panels
}

TEST_CASE("a row reads several panels of another kernel side by side") {
  Graph g;
  const auto orderOf = [](const std::vector<ConstantLayout>& layouts) {
    return *std::ranges::find(layouts, 2U, &ConstantLayout::slot);
  };
  const char* panels = "tile(1,16) order(1,0) upcast(1,4) vector(2,8) upcast(2,2)";
  const ConstantLayout order = orderOf(checked(g, buildMatmul(g, {8, 96, 6}), panels).layouts);
  CHECK(order.dims == std::vector<ConstantLayout::Dim>{{6, 16, 0}, {6, 96, 0}, {2, 8, 0}, {8, 1, 0}});
  CHECK(orderOf(checked(g, buildMatmul(g, {1, 96, 6}), "vector(1,8) upcast(1,6)", {}, {order}).layouts) == order);
}

TEST_CASE("lanes stay neighbours: those of terms have an order of their own") {
  Graph g;
  const auto orderOf = [](const std::vector<ConstantLayout>& layouts) {
    return *std::ranges::find(layouts, 2U, &ConstantLayout::slot);
  };
  const char* panels = "tile(1,16) order(1,0) upcast(1,4) vector(2,8) upcast(2,2)";
  const ConstantLayout order = orderOf(checked(g, buildMatmul(g, {8, 96, 16}), panels).layouts);
  const char* terms = "upcast(1,6) vector(2,8)";
  const ConstantLayout own = orderOf(checked(g, buildMatmul(g, {1, 96, 16}), terms).layouts);
  CHECK(own.dims.back() == ConstantLayout::Dim{8, 96, 0});
  CHECK(orderOf(checked(g, buildMatmul(g, {1, 96, 16}), terms, {}, {order}).layouts) == own);
}

TEST_CASE("an order whose last block begins earlier is read by blocks that do not leave its blocks") {
  Graph g;
  int shared = 0;
  for (int64_t columns : {97, 100, 104, 130, 200})
    for (const char* inOrder : {"vector(1,8) upcast(1,6)", "tile(1,48) order(1,0) vector(2,8) upcast(2,6)"}) {
      const std::vector<ConstantLayout> layouts = checked(g, buildMatmul(g, {1, columns, 6}), inOrder).layouts;
      const auto order = std::ranges::find(layouts, 2U, &ConstantLayout::slot);
      REQUIRE(order != layouts.end());
      for (const char* opts :
           {"", "tile(1,8) vector(2,8)", "tile(1,16) order(1,0) upcast(1,4) vector(2,8) upcast(2,2) unroll(3,2)",
            "tile(1,24) order(1,0) vector(2,8) upcast(2,3)", "tile(1,32) order(1,0) vector(2,8) upcast(2,4)"}) {
        const Reordered r = checked(g, buildMatmul(g, {5, columns, 6}), opts, {}, {*order});
        const auto found = std::ranges::find(r.layouts, 2U, &ConstantLayout::slot);
        shared += found != r.layouts.end() && *found == *order ? 1 : 0;
      }
    }
  CHECK(shared == 23);  // of 50, those whose lanes stay within a block
}

TEST_CASE("an order that repeats elements is left alone") {
  Graph g;
  Reordered r = checked(g, buildConv1d(g, {3, 4000, 7}), "");
  for (const ConstantLayout& l : r.layouts) CHECK(l.elements() <= 3 * 4000 * 5 / 4 + 1024);
}

TEST_CASE("text that is no list of layouts") {
  CHECK_FALSE(layoutsFromText("1 2 3"));
  CHECK_FALSE(layoutsFromText("1 99999999999 1\n"));
  CHECK(layoutsFromText("")->empty());
}

TEST_CASE("an address whose quotients nest is looked at once per part") {
  Graph g;
  UOp i = g.range(g.index(24), 0, AxisType::Loop), at = i;
  for (int step = 0; step < 60; ++step)  // doubles the number of paths down to the counter
    at = g.alu(Op::Add,
               {g.alu(Op::Mul, {g.alu(Op::Floormod, {g.alu(Op::Add, {at, g.index(1)}), g.index(4)}), g.index(6)}),
                g.alu(Op::Floordiv, {g.alu(Op::Add, {at, g.index(1)}), g.index(5)})});
  UOp size = g.index(32), to = g.make(Op::Param, DType::F32, {size}, SlotArg{0, Space::Global}),
      from = g.make(Op::Param, DType::F32, {size}, SlotArg{1, Space::Global});
  UOp store = g.make(Op::Store, DType::Void, {g.indexInto(to, {&i, 1}), g.load(g.indexInto(from, {&at, 1}))});
  UOp sink = g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {store, i})});
  REQUIRE(readingOrder(g, sink, 1));
  CHECK(readingOrder(g, sink, 1)->elements() == 24);
}
