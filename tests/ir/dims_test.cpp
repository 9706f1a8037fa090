// The normal form of dims against plain integers: random expressions over all small values, and the families of sizes
// that models are made of, where equal dims must be the same node.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "ir/evaluate.h"
#include "ir/shape.h"
#include "ir/text.h"

using namespace svod;

namespace {

using Random = std::mt19937_64;
int64_t pick(Random& r, int64_t min, int64_t max) {
  return min + static_cast<int64_t>(r() % static_cast<uint64_t>(max - min + 1));
}

constexpr size_t kVars = 3;
using Point = std::array<int64_t, kVars>;
constexpr std::string_view kNames[kVars] = {"h", "n", "p"};

struct Vars {
  std::array<Interval, kVars> bounds;
  std::array<UOp, kVars> nodes;
  std::vector<Point> points() const {
    std::vector<Point> all;
    for (int64_t a = bounds[0].min; a <= bounds[0].max; ++a)
      for (int64_t b = bounds[1].min; b <= bounds[1].max; ++b)
        for (int64_t c = bounds[2].min; c <= bounds[2].max; ++c) all.push_back({a, b, c});
    return all;
  }
};

Vars makeVars(Graph& g, std::array<Interval, kVars> bounds) {
  Vars v{bounds, {}};
  for (size_t i = 0; i < kVars; ++i) v.nodes[i] = g.variable(kNames[i], bounds[i].min, bounds[i].max);
  return v;
}

int64_t valueAt(UOp dim, const Point& at) {
  return evaluate(dim,
                  [&](UOp leaf) -> std::optional<Scalar> {
                    for (size_t i = 0; i < kVars; ++i)
                      if (leaf.argAs<VarArg>().name == kNames[i]) return Scalar::ofInt(DType::Index, at[i]);
                    return std::nullopt;
                  })
      ->asInt();
}

/// A dim in its normal form, and the same expression as it was asked for.
struct Twin {
  UOp normal, plain;
};

struct OpRow {
  Op op;
  UOp (*normal)(Graph&, UOp, UOp);
};
constexpr OpRow kOps[] = {
    {Op::Add, addDims},           {Op::Sub, subDims}, {Op::Mul, mulDims}, {Op::Floordiv, floordivDims},
    {Op::Floormod, floormodDims}, {Op::Min, minDims}, {Op::Max, maxDims}};

Twin randomDim(Graph& g, Random& r, const Vars& v, int depth) {
  if (depth == 0 || pick(r, 0, 7) == 0) {
    UOp leaf = pick(r, 0, 2) == 0 ? g.index(pick(r, -4, 9)) : v.nodes[static_cast<size_t>(pick(r, 0, kVars - 1))];
    return {leaf, leaf};
  }
  const OpRow& row = kOps[pick(r, 0, std::size(kOps) - 1)];
  Twin a = randomDim(g, r, v, depth - 1), b = randomDim(g, r, v, depth - 1);
  if (row.op == Op::Floordiv || row.op == Op::Floormod) {
    const bool isSymbolic = pick(r, 0, 2) == 0 && b.normal.bounds().min > 0;
    if (!isSymbolic) b.normal = b.plain = g.index(pick(r, 2, 8));
  }
  return {row.normal(g, a.normal, b.normal), g.alu(row.op, {a.plain, b.plain})};
}

}  // namespace

TEST_CASE("dims in normal form have the values of what was written, and lie in their bounds") {
  Random r(20);
  for (int round = 0; round < 1500; ++round) {
    Graph g;
    const int64_t low = pick(r, 0, 2);
    Vars v = makeVars(g, {Interval{low, low + 9}, Interval{0, 5}, Interval{1, 4}});
    Twin dim = randomDim(g, r, v, static_cast<int>(pick(r, 1, 5)));
    INFO("round " << round << ": " << toExpr(dim.plain) << " as " << toExpr(dim.normal));
    for (const Point& at : v.points()) {
      const int64_t expected = valueAt(dim.plain, at), got = valueAt(dim.normal, at);
      INFO("at " << at[0] << ", " << at[1] << ", " << at[2]);
      REQUIRE(expected == got);
      REQUIRE(dim.normal.bounds().min <= got);
      REQUIRE(got <= dim.normal.bounds().max);
    }
  }
}

TEST_CASE("dims that are written in their normal form stay the same node") {
  Random r(21);
  size_t differ = 0;
  for (int round = 0; round < 1000; ++round) {
    Graph g;
    Vars v = makeVars(g, {Interval{1, 9}, Interval{0, 5}, Interval{1, 4}});
    UOp dim = randomDim(g, r, v, static_cast<int>(pick(r, 1, 4))).normal;
    UOp again = subDims(g, addDims(g, dim, g.index(7)), g.index(7));
    UOp doubled = floordivDims(g, mulDims(g, dim, g.index(2)), g.index(2));
    INFO("round " << round << ": " << toExpr(dim) << ", then " << toExpr(again) << " and " << toExpr(doubled));
    differ += again != dim || doubled != dim;
    CHECK(again == doubled);
  }
  CHECK(differ < 30);  // remainders that were kept for their bounds join the sum they stand in
}

namespace {

/// Arithmetic on dims as models write it.
struct Size {
  Graph* g = nullptr;
  UOp node;
  Size number(int64_t value) const { return {g, g->index(value)}; }
  friend Size operator+(Size a, Size b) { return {a.g, addDims(*a.g, a.node, b.node)}; }
  friend Size operator-(Size a, Size b) { return {a.g, subDims(*a.g, a.node, b.node)}; }
  friend Size operator*(Size a, Size b) { return {a.g, mulDims(*a.g, a.node, b.node)}; }
  friend Size operator/(Size a, Size b) { return {a.g, floordivDims(*a.g, a.node, b.node)}; }
  friend Size operator%(Size a, Size b) { return {a.g, floormodDims(*a.g, a.node, b.node)}; }
  friend Size operator+(Size a, int64_t b) { return a + a.number(b); }
  friend Size operator-(Size a, int64_t b) { return a - a.number(b); }
  friend Size operator-(int64_t a, Size b) { return b.number(a) - b; }
  friend Size operator*(Size a, int64_t b) { return a * a.number(b); }
  friend Size operator/(Size a, int64_t b) { return a / a.number(b); }
  friend Size operator%(Size a, int64_t b) { return a % a.number(b); }
};
Size least(Size a, Size b) { return {a.g, minDims(*a.g, a.node, b.node)}; }
Size greatest(Size a, Size b) { return {a.g, maxDims(*a.g, a.node, b.node)}; }
Size least(Size a, int64_t b) { return least(a, a.number(b)); }
Size greatest(Size a, int64_t b) { return greatest(a, a.number(b)); }

struct Family {
  std::string_view what;
  Size (*a)(Size h, Size n, Size p);
  Size (*b)(Size h, Size n, Size p);
};

#define SAME(what, x, y)        \
  {what,                        \
   [](Size h, Size n, Size p) { \
     (void)h, (void)n, (void)p; \
     return x;                  \
   },                           \
   [](Size h, Size n, Size p) { \
     (void)h, (void)n, (void)p; \
     return y;                  \
   }}

const Family kFamilies[] = {
    SAME("products commute", h* n * 2, n*(h * 2)),
    SAME("nested quotients", (h - 1) / 2 / 2, (h - 1) / 4),
    SAME("a chain of strides", ((h - 1) / 2 + 1 - 1) / 2 + 1, (h - 1) / 4 + 1),
    SAME("a convolution's rounding", (h + h.number(2) - 3) / 2 + 1, (h + 1) / 2),
    SAME("three strides", (((h + 1) / 2 + 1) / 2 + 1) / 2, (h + 7) / 8),
    SAME("multiples leave", (n * 6 + 5) / 3, n * 2 + 1),
    SAME("a sum divides", (p * 128 + 128) / (p * 32 + 32), p.number(4)),
    SAME("a sum times a variable", (p * n * 128 + n * 128) / (p * 32 + 32), n * 4),
    SAME("a sum of quotients", ((h - 1) / 2 * n * 8 + n * 8) / (n * 8), (h - 1) / 2 + 1),
    SAME("squares", (p + 1) * (p + 1) * n / (p * p + p * 2 + 1), n),
    SAME("pixel shuffle", (h * 2) * (p * 2) * 3 / 4, h* p * 3),
    SAME("patches", (h / 4) * (p / 4) * 16 / 16, (p / 4) * (h / 4)),
    SAME("windows", (h + 6) / 7 * 7, h + (7 - h % 7) % 7),
    SAME("windows, from the padding", h + (0 - h) % 7, (h + 6) / 7 * 7),
    SAME("what is left of a window", h - h / 7 * 7, h % 7),
    SAME("quotient and remainder", h / 4 * 4 + h % 4, h),
    SAME("nested remainder", (h % 8) / 2, (h / 2) % 4),
    SAME("remainder of a remainder", (h % 12) % 4, h % 4),
    SAME("remainder of multiples", (h * 8 + n) % 4, n % 4),
    SAME("rounding up", 0 - (0 - h) / 4, (h + 3) / 4),
    SAME("rounding up a quotient", 0 - (0 - h / 2) / 3, (h / 2 + 2) / 3),
    SAME("chunks", (h + p - 1) / p, (h - 1) / p + 1),
    SAME("nested symbolic quotients", h / p / (n + 1), h / (p * (n + 1))),
    SAME("a slice to the end", least(h + 3, h) - 0, h),
    SAME("a slice clamped", greatest(least(h - 2, h), h.number(0)), greatest(h - 2, 0)),
    SAME("nested minima", least(least(h, 5), n), least(n, least(h, 5))),
    SAME("a minimum moved", least(h + 1, n + 1) - 1, least(h, n)),
    SAME("a minimum of multiples", least(h * 4, n * 4) / 4, least(h, n)),
    SAME("a divided minimum", least(h * 2, n.number(9)) / 2, least(h, 4)),
    SAME("a dominated minimum", least(least(h, n), h + n), least(h, n)),
    SAME("a window that starts inside", least((h + 1) / 2, (h + 2) / 2), (h + 1) / 2),
    SAME("a pad that is there", greatest((h + 1) / 2 * 2 + 1 - h, 0), (h + 1) / 2 * 2 + 1 - h),
    SAME("the pad of what was halved", greatest((h + 3) / 4 * 2 - (h + 1) / 2, -1), (h + 3) / 4 * 2 - (h + 1) / 2),
    SAME("a halved size, padded and halved", (h + greatest((h + 1) / 2 * 2 + 1 - h, 0) - 3) / 2 + 1, (h + 1) / 2),
    SAME("concatenated and cut", (h + p + h * 2) - p, h * 3),
    SAME("up and down", ((h * 2 - 1) / 2 + 1), h),
    SAME("a transposed convolution", (h - 1) * 2 - h.number(2) + 3 + 1, h * 2),
    SAME("what is rolled", greatest(h - greatest(h - 2, 0), 0) + greatest(h - 2, 0), h),
    SAME("the lesser and the greater", least(h, n) * 2 + p + greatest(h, n) * 2, h * 2 + n * 2 + p),
    SAME("padded and cut to a number", (least(0 - h, h.number(-9)) + h + greatest(0 - h, -9)) / 2, h.number(-5)),
    SAME("two ends", least(h, 2) + greatest(h - least(h, 2), 0), h),
    SAME("dilation", (h + h.number(4) - h.number(4) - 1) / 1 + 1, h),
};

}  // namespace

TEST_CASE("equal sizes of models are the same node") {
  for (const Family& f : kFamilies) {
    Graph g;
    Vars v = makeVars(g, {Interval{1, 40}, Interval{1, 5}, Interval{1, 6}});
    Size h{&g, v.nodes[0]}, n{&g, v.nodes[1]}, p{&g, v.nodes[2]};
    UOp a = f.a(h, n, p).node, b = f.b(h, n, p).node;
    INFO(f.what << ": " << toExpr(a) << " and " << toExpr(b));
    for (const Point& at : v.points()) REQUIRE(valueAt(a, at) == valueAt(b, at));
    CHECK(a == b);
  }
}

TEST_CASE("sums of many variables are the same node in any order, and lose what is subtracted") {
  for (const int count : {2, 64, 65, 130, 250}) {
    Graph g;
    Random r(23);
    std::vector<UOp> variables;
    for (int i = 0; i < count; ++i) variables.push_back(g.variable("n" + std::to_string(i), 1, 512));
    auto sumOf = [&](std::span<const UOp> all) {
      UOp total = g.index(0);
      for (UOp v : all) total = addDims(g, total, v);
      return total;
    };
    const UOp total = sumOf(variables);
    std::vector<UOp> mixed = variables;
    std::shuffle(mixed.begin(), mixed.end(), r);
    INFO(count << " variables");
    CHECK(sumOf(mixed) == total);
    UOp rest = total, twice = total;
    for (UOp v : mixed) {
      rest = subDims(g, rest, v);
      CHECK(rest.bounds().min >= 0);
    }
    CHECK(rest.isConst(0));
    for (UOp v : mixed) twice = addDims(g, twice, v);
    CHECK(mulDims(g, total, g.index(2)) == twice);
    CHECK(subDims(g, total, sumOf(std::span(variables).first(variables.size() - 1))) == variables.back());
  }
}

TEST_CASE("dims near the ends of 64 bits keep their values") {
  Random r(22);
  const int64_t kLarge = int64_t{1} << 61;
  for (int round = 0; round < 500; ++round) {
    Graph g;
    UOp n = g.variable("n", kLarge - 3, kLarge);
    UOp dim = n, plain = n;
    for (int i = 0; i < 3; ++i) {
      const OpRow& row = kOps[pick(r, 0, std::size(kOps) - 1)];
      UOp other = pick(r, 0, 1) ? n : g.index(pick(r, 2, 9));
      dim = row.normal(g, dim, other), plain = g.alu(row.op, {plain, other});
      if (other.isConst() || (row.op != Op::Floordiv && row.op != Op::Floormod)) continue;
      break;
    }
    INFO("round " << round << ": " << toExpr(plain) << " as " << toExpr(dim));
    for (int64_t value = kLarge - 3; value <= kLarge; ++value) {
      auto leaf = [&](UOp) { return std::optional(Scalar::ofInt(DType::Index, value)); };
      REQUIRE(evaluate(dim, leaf)->asInt() == evaluate(plain, leaf)->asInt());
    }
  }
}
