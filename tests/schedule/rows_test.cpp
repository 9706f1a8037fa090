// Rows of a product that later reductions of the same kernel sweep over.
#include <catch2/catch.hpp>

#include "common/graphs.h"
#include "common/model_text.h"
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

int fillsOf(const Schedule& s) {
  int fills = 0;
  for (const Kernel& kernel : s.kernels)
    for (UOp n : toposort(kernel.sink)) fills += n.op() == Op::Fill;
  return fills;
}

}  // namespace

TEST_CASE("attention is one kernel that keeps scores and weights row by row") {
  GraphMaker m;
  m.output("y", attention(m, 32).result);
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 1);
  CHECK(fillsOf(s) >= 2);
}

TEST_CASE("so is attention whose operands lie in one buffer") {
  GraphMaker m;
  constexpr int64_t kRows = 32;
  UOp packed = m.input("packed", {kRows, 2 * kHead + kValue});
  const auto part = [&](int64_t first, int64_t columns) { return m.shrink(packed, {0, first}, {kRows, columns}); };
  UOp scores = m.matmul(part(0, kHead), m.permute(part(kHead, kHead), {1, 0}), kRows, kRows, kHead);
  m.output("y", m.matmul(m.softmax(scores, kRows, kRows), part(2 * kHead, kValue), kRows, kValue, kRows));
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 1);
  CHECK(fillsOf(s) >= 2);
}

TEST_CASE("queries that are turned by their position are computed before attention, not again for every key") {
  constexpr int64_t kRows = 128, kWide = 32;
  GraphMaker m;
  const auto rows = [&](const char* name) { return m.input(name, {kRows, kWide}); };
  UOp q = rows("q"), turned = m.g.alu(Op::Mul, {m.g.flip(q, std::vector<int32_t>{1}), rows("sines")});
  UOp placed = m.g.alu(Op::Add, {m.g.alu(Op::Mul, {q, rows("cosines")}), turned});
  UOp scores = m.matmul(placed, m.permute(rows("k"), {1, 0}), kRows, kRows, kWide);
  m.output("y", m.matmul(m.softmax(scores, kRows, kRows), rows("v"), kRows, kWide, kRows));
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 2);
  CHECK(fillsOf(s) >= 2);
}

TEST_CASE("masks are applied once, where rows are kept") {
  GraphMaker m;
  UOp q = m.input("q", {32, kHead}), k = m.input("k", {kKeys, kHead}), v = m.input("v", {kKeys, kValue});
  UOp scores = m.matmul(q, m.permute(k, {1, 0}), 32, kKeys, kHead);
  UOp masked = m.g.alu(Op::Add, {scores, m.input("mask", {32, kKeys})});
  m.output("y", m.matmul(m.softmax(masked, 32, kKeys), v, 32, kValue, kKeys));
  Schedule s = checked(m.model);
  REQUIRE(s.items.size() == 1);
  size_t loads = 0;
  for (UOp n : toposort(s.kernels[0].sink)) loads += n.op() == Op::Load && storageOf(n.src(0)).op() == Op::Param;
  CHECK(loads == 4);
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
  CHECK(fillsOf(s) == 0);
}

TEST_CASE("a few queries are no block of rows") {
  GraphMaker m;
  m.output("y", attention(m, 4).result);
  CHECK(fillsOf(checked(m.model)) == 0);
}

TEST_CASE("rows without a product are computed again where they are read") {
  GraphMaker m;
  UOp x = m.input("x", {32, kKeys}), v = m.input("v", {kKeys, kValue});
  m.output("y", m.matmul(m.softmax(x, 32, kKeys), v, 32, kValue, kKeys));
  CHECK(fillsOf(checked(m.model)) == 0);
}

TEST_CASE("rows as short as the terms of their product are kept in memory") {
  GraphMaker m;
  UOp x = m.input("x", {16, 32}), w = m.input("w", {32, 32});
  for (int i = 0; i < 3; ++i) x = m.softmax(m.matmul(x, w, 16, 32, 32), 16, 32);
  m.output("y", x);
  CHECK(fillsOf(checked(m.model)) == 0);
}

TEST_CASE("rows whose elements share no operand are kept in memory") {
  GraphMaker m;
  UOp x = m.input("x", {32, kKeys, kHead}), filters = m.input("filters", {kKeys, kHead});
  UOp perRow = m.expand(m.reshape(filters, {1, kKeys, kHead}), {32, kKeys, kHead});
  // A number for all of them is no operand of a block.
  UOp scaled = m.g.alu(Op::Mul, {x, m.expand(m.reshape(m.input("scale", {1}), {1, 1, 1}), {32, kKeys, kHead})});
  UOp sums = m.reshape(m.reduce(Op::Add, m.g.alu(Op::Mul, {scaled, perRow}), {2}), {32, kKeys});
  m.output("y", m.matmul(m.softmax(sums, 32, kKeys), m.input("v", {kKeys, kValue}), 32, kValue, kKeys));
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 2);
  CHECK(fillsOf(s) == 0);
}

TEST_CASE("a chain of products keeps the rows of one product per kernel") {
  GraphMaker m;
  UOp x = m.input("x", {16, 16}), up = m.input("up", {16, 64}), down = m.input("down", {64, 16});
  for (int i = 0; i < 3; ++i) x = m.matmul(m.softmax(m.matmul(x, up, 16, 64, 16), 16, 64), down, 16, 16, 64);
  m.output("y", x);
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 3);
  CHECK(fillsOf(s) >= 2);  // some of the kernels are the same
}

TEST_CASE("what follows attention leaves it one kernel") {
  GraphMaker m;
  m.output("y", m.softmax(attention(m, 32).result, 32, kValue));
  auto schedule = makeSchedule(m.model, {Numerics::Contract});
  REQUIRE(schedule);
  CHECK(schedule->items.size() == 2);
  CHECK(fillsOf(*schedule) == 2);
}

TEST_CASE("a softmax that is read twice is divided before the product, also above another") {
  GraphMaker m;
  UOp first = attention(m, 32).result, w = m.input("w", {kValue, kKeys}), v = m.input("u", {kKeys, kValue});
  UOp weights = m.softmax(m.matmul(first, w, 32, kKeys, kValue), 32, kKeys);
  m.output("w2", weights);
  m.output("y", m.matmul(weights, v, 32, kValue, kKeys));
  auto schedule = makeSchedule(m.model, {Numerics::Contract});
  REQUIRE(schedule);
  CHECK(schedule->items.size() == 4);
}

TEST_CASE("a maximum over a part of the row bounds nothing, so the division stays where it is") {
  GraphMaker m;
  UOp x = m.input("x", {32, kKeys}), v = m.input("v", {kKeys, kValue});
  UOp part = m.reduce(Op::Max, m.shrink(x, {0, 0}, {32, kKeys / 2}), {1});
  UOp e = m.g.alu(Op::Exp, {m.g.alu(Op::Sub, {x, m.alongRows(part, 32, kKeys)})});
  UOp weights = m.g.alu(Op::Fdiv, {e, m.alongRows(m.reduce(Op::Add, e, {1}), 32, kKeys)});
  m.output("y", m.matmul(weights, v, 32, kValue, kKeys));
  auto schedule = makeSchedule(m.model, {Numerics::Contract});
  REQUIRE(schedule);
  CHECK(schedule->kernels.back().sink.src(0).src(0).src(1).op() == Op::Reduce);
}

TEST_CASE("heads of an attention are stored as they are read, its result as its reader wants it") {
  std::string text = "input x: f32[70, 64]\n";
  for (std::string name : {"q", "k", "v"})
    text += "input w" + name + ": f32[64, 64]\n" + name + " = permute(reshape(matmul(x, w" + name +
            "), shape=[70, 2, 32]), order=[1, 0, 2])\n";
  text += "r = reshape(permute(attention(q, k, v), order=[1, 0, 2]), shape=[70, 64])\n";
  const auto launches = [&](const std::string& result) {
    Model model = modelOf(text + result);
    checked(model);
    auto schedule = makeSchedule(model, {Numerics::Contract});
    REQUIRE(schedule);
    CHECK(fillsOf(*schedule) >= 2);
    return schedule->items.size();
  };
  CHECK(launches("output r\n") == 4);
  CHECK(launches("output y = matmul(r, wq)\n") == 5);
  Model model = modelOf(
      "input x: f32[9, 80]\ninput w: f32[80, 80]\nm = permute(reshape(matmul(x, w), shape=[9, 2, 40]), "
      "order=[1, 0, 2])\noutput y = matmul(m, transpose(m))\n");
  const Schedule s =
      checked(model);  // the columns of a head are a loop of the kernel: its results stand as they are read
  CHECK(s.kernels[0].sink.src(0).srcCount() == 4);
}
