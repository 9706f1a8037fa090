#include "lower/strided_loads.h"

#include <catch2/catch.hpp>

#include "lower/strided.h"

using namespace svod;

namespace {

/// out[i] = in[stride * i + offset] for i < n, gated by `i < valid` where that is less than n.
UOp buildStrided(Graph& g, int64_t n, int64_t stride, int64_t offset, int64_t valid) {
  int64_t length = (n - 1) * std::abs(stride) + 1;
  UOp out = g.make(Op::Param, DType::F32, {g.index(n)}, SlotArg{0, Space::Global});
  UOp in = g.make(Op::Param, DType::F32, {g.index(length + offset)}, SlotArg{1, Space::Global});
  UOp r = g.range(g.index(n), 0, AxisType::Loop);
  UOp from = stride < 0 ? g.index(length - 1 + offset) : g.index(offset);
  UOp at = g.alu(Op::Add, {g.alu(Op::Mul, {r, g.index(stride)}), from});
  UOp address = g.indexInto(in, {&at, 1});
  UOp value = valid == n
                  ? g.load(address)
                  : g.load(address, g.constant(Scalar::ofFloat(DType::F32, -1)), g.alu(Op::Lt, {r, g.index(valid)}));
  UOp store = g.make(Op::Store, DType::Void, {g.indexInto(out, {&r, 1}), value});
  return g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {store, r})});
}

int gathersLeft(Graph& g, UOp sink, const char* opts) { return irregularLeft(g, sink, opts, Op::Load, loadStrides); }

}  // namespace

TEST_CASE("Small steps become contiguous loads, and never leave the buffer") {
  for (int64_t stride : {2, 3, 4, -1, -2, -3})
    for (int64_t n : {16, 48, 37})
      for (int64_t offset : {0, 5}) {
        INFO("stride " << stride << " n " << n << " offset " << offset);
        Graph g;
        CHECK(gathersLeft(g, buildStrided(g, n, stride, offset, n), "vector(0,16)") == 0);
      }
}

TEST_CASE("Lanes of a gated load are read only where their gate holds") {
  for (int64_t stride : {2, 3, -2}) {
    INFO("stride " << stride);
    Graph g;
    CHECK(gathersLeft(g, buildStrided(g, 32, stride, 0, 19), "vector(0,16)") == 0);
  }
}

TEST_CASE("Large steps stay gathers where nothing is read beside them") {
  Graph g;
  CHECK(gathersLeft(g, buildStrided(g, 32, 9, 0, 32), "vector(0,16)") == 1);
}

TEST_CASE("A transposed block is loaded along its lines") {
  for (const char* opts : {"vector(1,16) upcast(0,16)", "vector(1,8) upcast(0,8)", "vector(1,16) upcast(0,4)",
                           "vector(1,4) upcast(0,8)", "vector(1,8) upcast(0,4)"})
    for (Sizes s : {Sizes{16, 16, 0}, Sizes{48, 64, 0}, Sizes{37, 29, 0}}) {
      Graph g;
      CHECK(gathersLeft(g, buildTranspose(g, s), opts) == 0);
    }
}

TEST_CASE("Addresses of lanes are a scalar and constants, or nothing") {
  Graph g;
  UOp r = g.range(g.index(9), 0, AxisType::Loop);
  UOp lanes = g.make(Op::Stack, DType::Index, {g.index(0), g.index(3), g.index(1)});
  UOp at = g.alu(Op::Add, {g.alu(Op::Mul, {r, g.index(7)}), g.alu(Op::Mul, {lanes, g.index(2)})});
  auto offsets = laneOffsets(g, at);
  REQUIRE(offsets);
  CHECK(offsets->lanes == std::vector<int64_t>{0, 6, 2});
  CHECK(offsets->base == g.alu(Op::Mul, {r, g.index(7)}));
  CHECK_FALSE(laneOffsets(g, g.alu(Op::Floordiv, {lanes, g.index(2)})));
  CHECK_FALSE(laneOffsets(g, r));
}
