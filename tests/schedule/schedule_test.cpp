#include "schedule/schedule.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "common/graphs.h"
#include "schedule/checked.h"

using namespace svod;

TEST_CASE("an elementwise chain is one kernel") {
  GraphMaker m;
  UOp x = m.input("x", {5, 3}), y = m.input("y", {5, 3});
  m.output("z", m.g.alu(Op::Max, {m.g.alu(Op::Add, {m.g.alu(Op::Mul, {x, y}), x}), m.f32(0)}));
  CHECK(checked(m.model).items.size() == 1);
}

TEST_CASE("softmax is one kernel whose reductions stay outside the column loop") {
  GraphMaker m;
  m.output("y", m.softmax(m.input("x", {4, 6}), 4, 6));
  CHECK(checked(m.model).items.size() == 1);
}

TEST_CASE("a matrix product with bias and relu is one kernel") {
  GraphMaker m;
  UOp a = m.input("a", {4, 5}), b = m.input("b", {5, 3}), bias = m.input("bias", {3});
  UOp sum = m.g.alu(Op::Add, {m.matmul(a, b, 4, 3, 5), m.expand(m.reshape(bias, {1, 3}), {4, 3})});
  m.output("y", m.g.alu(Op::Max, {sum, m.f32(0)}));
  CHECK(checked(m.model).items.size() == 1);
}

TEST_CASE("what a matrix product would compute again for every tile is kept") {
  GraphMaker m;
  UOp a = m.input("a", {48, 32}), b = m.input("b", {32, 512});
  UOp scaled = m.g.alu(Op::Fdiv, {a, m.softmax(a, 48, 32)});
  m.output("y", m.matmul(scaled, b, 48, 512, 32));
  CHECK(checked(m.model).items.size() == 2);
}

TEST_CASE("a convolution by windows is one kernel: reading at a computed index needs no buffer") {
  constexpr int kChannels = 6, kWidth = 20, kTaps = 3, kOut = kWidth - kTaps + 1, kFilters = 64;
  GraphMaker m;
  UOp x = m.input("x", {kChannels, kWidth}), w = m.input("w", {kFilters, kChannels * kTaps});
  auto iota = [&](int64_t n) { return m.g.make(Op::Iota, DType::Index, {m.g.index(n)}); };
  UOp out = m.expand(m.reshape(iota(kOut), {1, kOut}), {kTaps, kOut});
  UOp tap = m.expand(m.reshape(iota(kTaps), {kTaps, 1}), {kTaps, kOut});
  UOp channel = m.expand(m.reshape(iota(kChannels), {kChannels, 1, 1}), {kChannels, kTaps, kOut});
  UOp at = m.expand(m.reshape(m.g.alu(Op::Add, {out, tap}), {1, kTaps, kOut}), {kChannels, kTaps, kOut});
  UOp windows = m.g.make(Op::Gather, DType::F32, {x, channel, at});
  m.output("y", m.matmul(w, m.reshape(windows, {kChannels * kTaps, kOut}), kFilters, kOut, kChannels * kTaps));
  CHECK(checked(m.model).items.size() == 1);
}

TEST_CASE("layers of product and norm are two kernels each, however many there are") {
  constexpr int kLayers = 12;
  GraphMaker m;
  UOp x = m.input("x", {12, 32}), w = m.input("w", {32, 32});
  for (int i = 0; i < kLayers; ++i) x = m.softmax(m.matmul(x, w, 12, 32, 32), 12, 32);
  m.output("y", x);
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 2 * kLayers);
  CHECK(s.kernels.size() == 2);
}

TEST_CASE("two long products that are added are two kernels, the second with the addition") {
  GraphMaker m;
  UOp a = m.input("a", {8, 32}), b = m.input("b", {32, 8}), c = m.input("c", {8, 64}), d = m.input("d", {64, 8});
  m.output("y", m.g.alu(Op::Add, {m.matmul(a, b, 8, 8, 32), m.matmul(c, d, 8, 8, 64)}));
  CHECK(checked(m.model).items.size() == 2);
}

TEST_CASE("a product of products keeps the first in a buffer") {
  GraphMaker m;
  UOp a = m.input("a", {20, 30}), b = m.input("b", {30, 20}), c = m.input("c", {20, 20});
  m.output("y", m.matmul(m.matmul(a, b, 20, 20, 30), c, 20, 20, 20));
  CHECK(checked(m.model).items.size() == 2);
}

TEST_CASE("the same computation on other buffers shares a kernel") {
  GraphMaker m;
  UOp a = m.input("a", {4, 4}), b = m.input("b", {4, 4});
  m.output("x", m.g.alu(Op::Exp2, {a}));
  m.output("y", m.g.alu(Op::Exp2, {b}));
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 2);
  CHECK(s.kernels.size() == 1);
}

TEST_CASE("pad, flip, shrink and permute become index arithmetic") {
  GraphMaker m;
  UOp x = m.input("x", {4, 6});
  UOp padded = m.g.pad(x, m.f32(7), m.dims({1, 0}), m.dims({2, 3}));
  std::vector<int32_t> both{0, 1};
  UOp y = m.permute(m.shrink(m.g.flip(padded, both), {1, 2}, {5, 6}), {1, 0});
  m.output("y", m.reshape(y, {5, 6}));
  CHECK(checked(m.model).items.size() == 1);
}

TEST_CASE("gather reads without a loop over the table; indices outside give zero") {
  GraphMaker m;
  UOp table = m.input("table", {3, 4}), rows = m.input("rows", {5, 1}, DType::I32);
  UOp row = m.expand(rows, {5, 4});
  UOp column = m.expand(m.reshape(m.g.make(Op::Iota, DType::I32, {m.g.index(4)}), {1, 4}), {5, 4});
  m.output("y", m.g.make(Op::Gather, DType::F32, {table, row, column}));
  Schedule s = checked(m.model);
  CHECK(s.items.size() == 1);
  CHECK(s.kernels[0].name.find("_e5x4_") != std::string::npos);
}

TEST_CASE("reading an empty scatter gives zero: every index is outside") {
  GraphMaker m;
  UOp empty = m.input("empty", {0}), at = m.input("at", {3}, DType::I32);
  UOp none = m.g.make(Op::Scatter, DType::F32, {empty, m.shrink(at, {0}, {0}), empty}, ReduceArg{Op::Add, {}});
  m.output("y", m.g.make(Op::Gather, DType::F32, {none, at}));
  checked(m.model);
}

TEST_CASE("constants, copies and empty tensors need no special case of the user") {
  GraphMaker m;
  UOp x = m.input("x", {3}), none = m.input("none", {0, 3});
  m.output("ones", m.expand(m.reshape(m.f32(1), {1}), {6}));
  m.output("same", x);
  m.output("empty", m.g.alu(Op::Neg, {none}));
  m.output("zero", m.reduce(Op::Add, none, {0}));
  m.output("lowest", m.reduce(Op::Max, none, {0}));
  checked(m.model);
}

TEST_CASE("values without elements need no kernel") {
  GraphMaker m;
  UOp none = m.input("none", {0, 3});
  m.output("empty", m.g.alu(Op::Neg, {m.g.alu(Op::Add, {none, none})}));
  m.output("part", m.shrink(m.input("x", {4}), {2}, {0}));
  CHECK(checked(m.model).items.empty());
}

TEST_CASE("two outputs that share a reduction compute it once") {
  GraphMaker m;
  UOp x = m.input("x", {6, 50});
  UOp sum = m.reduce(Op::Add, x, {1});
  m.output("a", m.g.alu(Op::Neg, {sum}));
  m.output("b", m.g.alu(Op::Mul, {sum, sum}));
  const auto reductionsOf = [](const Schedule& s) {
    size_t count = 0;
    for (const Kernel& k : s.kernels)
      count += static_cast<size_t>(std::ranges::count(toposort(k.sink), Op::Reduce, &UOp::op));
    return count;
  };
  CHECK(reductionsOf(checked(m.model)) == 1);
  // Not because kernels that both compute it are joined afterwards.
  auto apart = makeSchedule(m.model, {.numerics = Numerics::Strict, .passes = {.disabledPasses = {"join-siblings"}}});
  REQUIRE(apart);
  CHECK(reductionsOf(*apart) == 1);
}

TEST_CASE("products of deep matrices are split where the results are few and read much again") {
  const auto items = [](int64_t m, int64_t n, int64_t k, DType dtype = DType::F32) {
    GraphMaker g;
    g.output("y", g.matmul(g.input("a", {m, k}, dtype), g.input("b", {k, n}, dtype), m, n, k));
    auto schedule = makeSchedule(g.model, {Numerics::Contract});
    REQUIRE(schedule);
    return schedule->items.size();
  };
  CHECK(items(32, 48, 8192) == 2);
  CHECK(items(32, 48, 8192, DType::F16) == items(32, 48, 64, DType::F16));  // parts would be rounded
  CHECK(items(32, 48, 8191) == 1);                                          // a prime has no equal parts
  CHECK(items(32, 48, 4096) == 1);
  CHECK(items(8, 48, 8192) == 1);
  CHECK(items(300, 300, 8192) == 1);
  const auto product = [](GraphMaker& g, DType dtype) {
    g.output("y", g.matmul(g.input("a", {16, 8192}, dtype), g.input("b", {8192, 16}, dtype), 16, 16, 8192));
  };
  GraphMaker floats, integers;
  product(floats, DType::F32), product(integers, DType::I32);
  CHECK(checked(floats.model, Numerics::Contract).items.size() == 2);
  CHECK(makeSchedule(integers.model, {Numerics::Strict})->items.size() == 2);
}

TEST_CASE("products of a softmax are not split, those of other functions are") {
  const auto parts = [](bool softmax) {
    GraphMaker g;
    UOp a = g.input("a", {32, 8192}), b = g.input("b", {8192, 48});
    g.output("y", g.matmul(softmax ? g.softmax(a, 32, 8192) : g.g.alu(Op::Erf, {a}), b, 32, 48, 8192));
    auto schedule = makeSchedule(g.model, {Numerics::Contract});
    REQUIRE(schedule);
    return std::ranges::count(schedule->buffers, int64_t{8 * 32 * 48}, &ScheduleBuffer::maxElements);
  };
  CHECK(parts(true) == 0);
  CHECK(parts(false) == 1);
}

TEST_CASE("long rows of a softmax are swept once for maximum and sum") {
  const auto kernels = [](int64_t rows, int64_t columns, Numerics numerics = Numerics::Contract,
                          DType dtype = DType::F32) {
    GraphMaker m;
    m.output("y", m.softmax(m.input("x", {rows, columns}, dtype), rows, columns));
    auto schedule = makeSchedule(m.model, {numerics});
    REQUIRE(schedule);
    return schedule->items.size();
  };
  CHECK(kernels(1, 1 << 19) == 2);
  CHECK(kernels(16, 1 << 16) == 2);
  CHECK(kernels(100, 1 << 19) == 2);
  CHECK(kernels(100, 1 << 18) == 1);  // a row stays in cache
  CHECK(kernels(100, 1 << 19, Numerics::Strict) == 1);
  CHECK(kernels(100, 1 << 19, Numerics::Contract, DType::BF16) ==
        kernels(100, 1 << 10, Numerics::Contract, DType::BF16));
  CHECK(kernels(100, (1 << 19) - 1) == 1);  // a prime has no equal parts
}

TEST_CASE("large reductions are split where the order of additions is free") {
  GraphMaker m;
  m.output("y", m.reduce(Op::Add, m.input("x", {1 << 16}), {0}));
  auto contract = makeSchedule(m.model, {Numerics::Contract});
  REQUIRE(contract);
  CHECK(contract->items.size() == 2);
  auto strict = makeSchedule(m.model, {Numerics::Strict});
  REQUIRE(strict);
  CHECK(strict->items.size() == 1);
}
