#include "lower/line_stores.h"

#include <catch2/catch.hpp>

#include "lower/strided.h"

using namespace svod;

namespace {

/// out[i, j] = in[i, j] over lines of n elements, or only those with i + j below `below`.
UOp buildCopy(Graph& g, int64_t lines, int64_t n, int64_t below = 0) {
  UOp out = g.make(Op::Param, DType::I32, {g.index(lines * n + 2)}, SlotArg{0, Space::Global});
  UOp in = g.make(Op::Param, DType::I32, {g.index(lines * n)}, SlotArg{1, Space::Global});
  UOp i = g.range(g.index(lines), 0, AxisType::Loop), j = g.range(g.index(n), 1, AxisType::Loop);
  UOp from = g.alu(Op::Add, {g.alu(Op::Mul, {i, g.index(n)}), j}), to = g.alu(Op::Add, {from, g.index(2)});
  std::vector<UOp> store{g.indexInto(out, {&to, 1}), g.load(g.indexInto(in, {&from, 1}))};
  if (below > 0) store.push_back(g.alu(Op::Lt, {g.alu(Op::Add, {i, j}), g.index(below)}));
  return g.make(Op::Sink, DType::Void, {g.make(Op::End, DType::Void, {g.make(Op::Store, DType::Void, store), i, j})});
}

int scattersLeft(Graph& g, UOp sink, const char* opts) { return irregularLeft(g, sink, opts, Op::Store, storeLines); }

}  // namespace

TEST_CASE("Vectors that go on in the next line are stored as two parts") {
  for (int64_t lines : {2, 3, 7})
    for (int64_t below : {0, 9})
      for (const char* opts :
           {"pitch(0,1,14) vector(0,8)", "pitch(0,1,13) vector(0,8)", "pitch(0,1,14) vector(0,4) upcast(0,3)"}) {
        INFO(lines << " lines, sums below " << below);
        Graph g;
        CHECK(scattersLeft(g, buildCopy(g, lines, 12, below), opts) == 0);
      }
}

TEST_CASE("Vectors over more than two lines stay scatters") {
  Graph g;
  CHECK(scattersLeft(g, buildCopy(g, 9, 3), "pitch(0,1,5) vector(0,8)") == 1);
  CHECK(scattersLeft(g, buildCopy(g, 9, 6), "pitch(0,1,7) vector(0,8)") == 1);
}
