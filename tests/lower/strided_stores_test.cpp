#include "lower/strided_stores.h"

#include <catch2/catch.hpp>

#include "lower/strided.h"

using namespace svod;

namespace {

/// out[i, j] = in[j, i] for j < step: rows are interleaved.
UOp buildInterleave(Graph& g, int64_t n, int64_t step, bool gated) {
  UOp out = g.make(Op::Param, DType::I32, {g.index(n * step)}, SlotArg{0, Space::Global});
  UOp in = g.make(Op::Param, DType::I32, {g.index(n * step)}, SlotArg{1, Space::Global});
  UOp i = g.range(g.index(n), 0, AxisType::Loop), j = g.range(g.index(step), 1, AxisType::Loop);
  UOp to = g.alu(Op::Add, {g.alu(Op::Mul, {i, g.index(step)}), j});
  UOp from = g.alu(Op::Add, {g.alu(Op::Mul, {j, g.index(n)}), i});
  std::vector<UOp> store{g.indexInto(out, {&to, 1}), g.load(g.indexInto(in, {&from, 1}))};
  if (gated) store.push_back(g.alu(Op::Lt, {i, g.index(n - 3)}));
  return g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {g.make(Op::Store, DType::Void, store), i, j})});
}

int scattersLeft(Graph& g, UOp sink, const char* opts) { return irregularLeft(g, sink, opts, Op::Store, storeStrides); }

}  // namespace

TEST_CASE("Stores that fill the gaps of each other become stores of neighbours") {
  for (int64_t step : {2, 4, 8})
    for (int64_t n : {16, 48, 37}) {
      INFO("step " << step << " n " << n);
      Graph g;
      CHECK(scattersLeft(g, buildInterleave(g, n, step, false), "vector(0,8) upcast(1,0)") == 0);
    }
}

TEST_CASE("Stores of a transposed tile run along its lines") {
  for (const char* opts : {"vector(0,16) upcast(1,16)", "vector(0,8) upcast(1,8)", "vector(0,16) upcast(1,4)",
                           "vector(0,4) upcast(1,8)", "vector(0,8) upcast(1,14)"})
    for (Sizes s : {Sizes{16, 16, 0}, Sizes{48, 64, 0}, Sizes{37, 29, 0}}) {
      Graph g;
      CHECK(scattersLeft(g, buildTranspose(g, s), opts) == 0);
    }
}

TEST_CASE("Stores beside a gap are joined, one that is left alone and gates by lane stay scatters") {
  Graph g;
  CHECK(scattersLeft(g, buildInterleave(g, 16, 3, false), "vector(0,8) upcast(1,0)") == 1);
  CHECK(scattersLeft(g, buildInterleave(g, 16, 4, false), "vector(0,8) upcast(1,2)") == 0);
  CHECK(scattersLeft(g, buildInterleave(g, 16, 4, false), "vector(0,8)") == 1);
  CHECK(scattersLeft(g, buildInterleave(g, 16, 2, true), "vector(0,8) upcast(1,0)") == 2);
}
