#include "facts/loop_pairs.h"

#include <catch2/catch.hpp>

#include "ir/text.h"
#include "opts/kernel_parts.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

/// out[i * stride + j] = x[i, j] over extents `outer` and `inner`, where rows of x are dense: whether both are one
/// loop.
bool areOne(Graph& g, UOp outer, UOp inner, UOp stride) {
  Builder b(g);
  UOp i = b.loop(outer), j = b.loop(inner);
  const auto at = [&](uint32_t slot, UOp row) {
    UOp param = g.make(Op::Param, DType::F32, {b.i(1 << 20)}, SlotArg{slot, Space::Global});
    UOp place = simplify(g, b.add(b.mul(i, row), j));
    return g.indexInto(param, std::vector<UOp>{place});
  };
  UOp sink = b.sink({b.end(b.store(at(0, stride), g.load(at(1, inner))), {i, j})});
  return walksAsOne(KernelFacts(sink), i, j);
}

}  // namespace

TEST_CASE("Loops through dense rows are one, whatever their extents are known by") {
  Graph g;
  UOp m = g.variable("m", 1, 100), n = g.variable("n", 1, 100);
  for (UOp inner : {g.index(7), n, g.alu(Op::Mul, {n, g.index(3)}), g.alu(Op::Floordiv, {n, g.index(2)}),
                    g.alu(Op::Mul, {n, m}), g.alu(Op::Add, {n, g.index(2)})}) {
    INFO(toUopText(inner));
    CHECK(areOne(g, m, inner, inner));
    CHECK(areOne(g, g.index(5), inner, inner));
    CHECK_FALSE(areOne(g, m, inner, g.index(512)));
    CHECK_FALSE(areOne(g, m, inner, simplify(g, g.alu(Op::Add, {inner, g.index(1)}))));
  }
}
