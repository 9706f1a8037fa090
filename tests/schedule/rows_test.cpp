// Rows of a product that later reductions of the same kernel sweep over.
#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "schedule/checked.h"

using namespace svod;

namespace {

constexpr int64_t kKeys = 24, kHead = 8, kValue = 12;

struct Attention {
  UOp weights, result;
};

Attention attention(GraphMaker& m, int64_t queries) {
  UOp q = m.input("q", {queries, kHead}), k = m.input("k", {kKeys, kHead}), v = m.input("v", {kKeys, kValue});
  UOp scores = m.matmul(q, m.permute(k, {1, 0}), queries, kKeys, kHead);
  UOp weights = m.softmax(scores, queries, kKeys);
  return {weights, m.matmul(weights, v, queries, kValue, kKeys)};
}

int stagesOf(const Schedule& s) {
  int stages = 0;
  for (const Kernel& kernel : s.kernels)
    for (UOp n : toposort(kernel.sink)) stages += n.op() == Op::Stage;
  return stages;
}

}  // namespace

TEST_CASE("attention is one kernel that keeps scores and weights row by row") {
  GraphMaker m;
  m.output("y", attention(m, 32).result);
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 1);
  CHECK(stagesOf(s) >= 2);
}

TEST_CASE("the rows of attention are divided by their sums after the product, unless every rounding counts") {
  GraphMaker m;
  m.output("y", attention(m, 32).result);
  const auto result = [&](Numerics numerics) {
    auto schedule = makeSchedule(m.model, {numerics});
    REQUIRE(schedule);
    REQUIRE(schedule->items.size() == 1);
    return schedule->kernels[0].sink.src(0).src(0).src(1).op();
  };
  CHECK(result(Numerics::Contract) == Op::Fdiv);
  CHECK(result(Numerics::Strict) == Op::Reduce);
}

TEST_CASE("weights that are asked for are computed once, by a kernel of their own") {
  GraphMaker m;
  Attention a = attention(m, 32);
  m.output("w", a.weights);
  m.output("y", a.result);
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 3);
  CHECK(stagesOf(s) == 0);
}

TEST_CASE("a few queries are no block of rows") {
  GraphMaker m;
  m.output("y", attention(m, 4).result);
  CHECK(stagesOf(checked(m.model)) == 0);
}

TEST_CASE("rows without a product are computed again where they are read") {
  GraphMaker m;
  UOp x = m.input("x", {32, kKeys}), v = m.input("v", {kKeys, kValue});
  m.output("y", m.matmul(m.softmax(x, 32, kKeys), v, 32, kValue, kKeys));
  CHECK(stagesOf(checked(m.model)) == 0);
}

TEST_CASE("a chain of products keeps the rows of one product per kernel") {
  constexpr int kLayers = 12;
  GraphMaker m;
  UOp x = m.input("x", {16, 32}), w = m.input("w", {32, 32});
  for (int i = 0; i < kLayers; ++i) x = m.softmax(m.matmul(x, w, 16, 32, 32), 16, 32);
  m.output("y", x);
  Schedule s = checked(m.model);
  CHECK(s.items.size() == kLayers / 2 + 1);
  CHECK(s.kernels.size() == 3);
}
