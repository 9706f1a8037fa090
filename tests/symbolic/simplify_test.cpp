// What the rest of the compiler relies on: index expressions, strides and gates come out in simplest form.
#include <catch2/catch.hpp>

#include "evaluate.h"
#include "symbolic/symbolic.h"

using namespace svod;

namespace {

// Readable index arithmetic for tests.
struct Ix {
  Graph* g;
  UOp u;
};
Ix wrap(Ix a, int64_t v) { return {a.g, a.g->index(v)}; }
#define BINARY(symbol, op)                                                   \
  Ix operator symbol(Ix a, Ix b) { return {a.g, a.g->alu(op, {a.u, b.u})}; } \
  [[maybe_unused]] Ix operator symbol(Ix a, int64_t b) { return a symbol wrap(a, b); }
BINARY(+, Op::Add)
BINARY(-, Op::Sub)
BINARY(*, Op::Mul)
BINARY(/, Op::Floordiv)
BINARY(%, Op::Floormod)
BINARY(<, Op::Lt)
BINARY(&, Op::And)
#undef BINARY
Ix operator!(Ix a) { return {a.g, a.g->alu(Op::Not, {a.u})}; }

struct World {
  Graph g;
  Ix range(int64_t size, uint32_t id) { return {&g, g.range(g.index(size), id, AxisType::Loop)}; }
  Ix range(Ix size, uint32_t id) { return {&g, g.range(size.u, id, AxisType::Loop)}; }
  Ix var(const char* name, int64_t min, int64_t max) { return {&g, g.variable(name, min, max)}; }
  Ix c(int64_t v) { return {&g, g.index(v)}; }
};
UOp simple(Ix a) { return simplify(*a.g, a.u); }
UOp simpleUnder(Ix a, Ix gate) { return simplifyUnder(*a.g, a.u, gate.u); }
UOp truth(World& s, bool value) { return s.g.boolean(value); }
#define CHECK_SAME(a, b) CHECK(describe(simple(a)) == describe(simple(b)))
#define CHECK_IS(a, b) CHECK(describe(simple(a)) == describe((b).u))

}  // namespace

TEST_CASE("sums are linear forms") {
  World s;
  Ix a = s.range(10, 0), b = s.range(10, 1);
  CHECK_IS(a + b - b, a);
  CHECK_IS(a * 2 + a * 3 - a * 4, a);
  CHECK_IS((a + 3) * 4 - 12, a * 4);
  CHECK_SAME(a * 4 + b, b + a * 4);
  CHECK_IS(a - a, s.c(0));
  CHECK_SAME((a + b) * 4, a * 4 + b * 4);
}

TEST_CASE("splitting and flattening cancel") {
  World s;
  Ix a = s.range(6, 0), b = s.range(4, 1), c = s.range(5, 2);
  Ix flat = (a * 4 + b) * 5 + c;
  CHECK_IS(flat / 20, a);
  CHECK_IS(flat / 5 % 4, b);
  CHECK_IS(flat % 5, c);
  CHECK_SAME(flat / 5, a * 4 + b);
  CHECK_SAME(flat % 20, b * 5 + c);
  Ix x = s.range(120, 3);
  CHECK_IS(x / 20 * 20 + x / 5 % 4 * 5 + x % 5, x);
  CHECK_IS((x / 20 * 4 + x / 5 % 4) * 5 + x % 5, x);
  CHECK_SAME((x / 3) / 4, x / 12);
  CHECK_SAME((x % 12) / 3, (x / 3) % 4);
  CHECK_SAME((x % 12) % 4, x % 4);
  CHECK_SAME((x + 24) % 12, x % 12);
  CHECK_SAME((x + 24) / 12, x / 12 + 2);
  CHECK_IS((a * 12 + b * 3) / 24, a / 2);
}

TEST_CASE("a remainder without its quotient stays one") {
  World s;
  Ix x = s.range(8, 0);
  Ix mixed = x % 2 * 8 + x / 2;
  CHECK_IS(mixed, mixed);
  CHECK(simple(mixed).bounds() == Interval{0, 11});
}

TEST_CASE("flips and reversed ranges") {
  World s;
  Ix a = s.range(8, 0);
  Ix reversed = s.c(7) - a;
  CHECK_IS(s.c(7) - reversed, a);
  CHECK_IS((reversed + a * 8) / 8, a);
  CHECK_SAME((reversed + a * 8) % 8, reversed);
}

TEST_CASE("symbolic sizes") {
  World s;
  Ix n = s.var("n", 1, 64), m = s.var("m", 1, 64);
  Ix a = s.range(16, 0), b = s.range(n, 1), c = s.range(m, 2);
  CHECK_IS((a * n + b) / n, a);
  CHECK_IS((a * n + b) % n, b);
  CHECK_IS((b * m + c) / m, b);
  CHECK_IS(((a * n + b) * m + c) / (n * m), a);
  CHECK_SAME(((a * n + b) * m + c) % (n * m), b * m + c);
  CHECK(simple(b < n) == truth(s, true));
  CHECK(simple(b * m + c < n * m) == truth(s, true));
  CHECK(simple(n - 1 - b < s.c(0)) == truth(s, false));
  Ix half = s.range(n / 2, 3), quarter = s.range((n + 1) / 4, 4);
  CHECK(simple(half * 2 + 1 < n) == truth(s, true));
  CHECK(simple(half * 2 + 2 < n) != truth(s, true));
  CHECK(simple(quarter * 2 + 1 < (n + 1) / 2) == truth(s, true));
  CHECK(simple(quarter * 2 + 2 < (n + 1) / 2) != truth(s, true));
  CHECK(simple(n - 2 < (n / 2) * 2) == truth(s, true));
}

TEST_CASE("symbolic quotients and remainders join") {
  World s;
  Ix n = s.var("n", 1, 64), m = s.var("m", 1, 64), x = s.range(1000, 0);
  CHECK_IS(x / n * n + x % n, x);
  CHECK_SAME(x / (n * m) * n * m + x % (n * m) + 3, x + 3);
  CHECK_SAME(x / n * n * 4 + x % n * 4, x * 4);
}

TEST_CASE("windows that slide over a repeated axis") {
  World s;
  Ix k = s.range(3, 0), o = s.range(8, 1);
  CHECK_SAME((k * 11 + o) % 10, k + o);
  Ix k2 = s.range(3, 2), o2 = s.range(3, 3);
  CHECK_SAME((k2 * 12 + o2 * 2) % 10, k2 * 2 + o2 * 2);
}

TEST_CASE("branches use their condition") {
  World s;
  Ix x = s.range(64, 0);
  UOp inside = (x < s.c(16)).u;
  UOp e = s.g.where(inside, (x % 16 + 1).u, (x / 16).u);
  CHECK(simplify(s.g, e) == s.g.where(inside, simple(x + 1), simple(x / 16)));
}

TEST_CASE("bits of indices are divisions") {
  World s;
  Ix x = s.range(64, 0);
  CHECK(simplify(s.g, s.g.alu(Op::Shr, {x.u, s.g.index(3)})) == simple(x / 8));
  CHECK(simplify(s.g, s.g.alu(Op::And, {x.u, s.g.index(7)})) == simple(x % 8));
}

TEST_CASE("comparisons keep only what matters") {
  World s;
  Ix a = s.range(10, 0), b = s.range(4, 1);
  CHECK_IS(a * 4 + b < s.c(20), a < s.c(5));
  CHECK(simple(a * 4 + b < s.c(40)) == truth(s, true));
  CHECK_IS(a + 3 < s.c(5), a < s.c(2));
  CHECK_IS(a / 3 < s.c(2), a < s.c(6));
  CHECK_IS(!(a < s.c(5)), s.c(4) < a);
  CHECK_IS(!(s.c(4) < a), a < s.c(5));
  CHECK_IS(a * 3 < s.c(7), a < s.c(3));
  CHECK_IS(a - 3 < s.c(0), a < s.c(3));
}

TEST_CASE("gates tighten expressions") {
  World s;
  Ix a = s.range(10, 0), b = s.range(4, 1), x = s.range(64, 2);
  CHECK(simpleUnder((x + 4) / 8, x < s.c(4)) == s.g.index(0));
  CHECK(simpleUnder(x % 16, x < s.c(16)) == x.u);
  CHECK(simpleUnder((a * 4 + b) / 12, a * 4 + b < s.c(12)) == s.g.index(0));
  CHECK(simpleUnder((a - 2) % 5, (s.c(1) < a) & (a < s.c(7))) == simple(a - 2));
  CHECK(simpleUnder(a < s.c(9), a < s.c(5)) == s.g.boolean(true));
  CHECK(simpleUnder(x % 16, x < s.c(17)) != x.u);
}

TEST_CASE("gates drop implied clauses") {
  World s;
  Ix a = s.range(10, 0), b = s.range(10, 1);
  auto gate = [&](Ix clause) { return simplifyGate(s.g, clause.u); };
  CHECK(gate((a < s.c(5)) & (a < s.c(7))) == simple(a < s.c(5)));
  CHECK(gate((a < s.c(5)) & (s.c(6) < a)) == s.g.boolean(false));
  CHECK(gate((a < s.c(5)) & (b < s.c(5)) & (a + b < s.c(20))) == simple((a < s.c(5)) & (b < s.c(5))));
  CHECK(gate(a < s.c(10)) == s.g.boolean(true));
}

TEST_CASE("strides") {
  World s;
  Ix a = s.range(10, 0), b = s.range(4, 1), n = s.var("n", 1, 9);
  UOp e = simple((a * 4 + b) * 3 + n);
  CHECK(coefficientOf(e, a.u) == 12);
  CHECK(coefficientOf(e, b.u) == 3);
  CHECK(coefficientOf(e, s.range(5, 7).u) == 0);
  CHECK(coefficientOf(simple((a * 4 + b) / 4), a.u) == 1);
  CHECK_FALSE(coefficientOf(simple((a * 3 + b) / 4), a.u).has_value());
  CHECK_FALSE(coefficientOf(simple(a * n), a.u).has_value());
}

TEST_CASE("ranges stay the caller's, lone ones fold") {
  World s;
  Ix n = s.var("n", 1, 64), r = s.range(n * 2 + 0, 0), one = s.range(1, 1);
  CHECK(simple(r + 0) == r.u);
  CHECK(simple(one) == s.g.index(0));
  CHECK(simple(one + r) == r.u);
}

TEST_CASE("a zero is left out of a sum that is never -0, and of no other") {
  for (DType d : {DType::F32, DType::F64, DType::F16}) {
    Graph g;
    const UOp zero = g.constant(Scalar::of(d, 0)), negative = g.constant(Scalar::ofFloat(d, -0.0));
    const auto loaded = [&](uint32_t slot) {
      UOp at = g.index(0);
      return g.load(g.indexInto(g.make(Op::Param, d, {g.index(1)}, SlotArg{slot}), {&at, 1}));
    };
    const auto add = [&](UOp a, UOp b) { return g.alu(Op::Add, {a, b}); };
    const UOp x = loaded(0), y = loaded(1), never = simplify(g, add(add(x, zero), y));
    CHECK(simplify(g, add(never, zero)) == never);
    CHECK(simplify(g, add(add(add(x, zero), zero), y)) == never);
    CHECK(simplify(g, add(add(x, y), zero)) != simplify(g, add(x, y)));
    CHECK(simplify(g, add(x, zero)) != x);
    CHECK(simplify(g, add(add(x, negative), zero)) != simplify(g, add(x, negative)));
  }
}
