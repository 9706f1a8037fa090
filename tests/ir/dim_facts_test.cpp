// Answers about dims against all values of their variables: no answer may be wrong, and those about the sizes that
// models are made of must be found.
#include <catch2/catch.hpp>
#include <random>

#include "ir/dim_facts.h"
#include "ir/evaluate.h"
#include "ir/shape.h"
#include "ir/text.h"

using namespace svod;

namespace {

using Random = std::mt19937_64;
int64_t pick(Random& r, int64_t min, int64_t max) {
  return min + static_cast<int64_t>(r() % static_cast<uint64_t>(max - min + 1));
}

constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Floordiv, Op::Floormod, Op::Min, Op::Max};

/// As it is written: the decisions must not depend on the normal form.
UOp randomDim(Graph& g, Random& r, std::span<const UOp> vars, int depth) {
  if (depth == 0 || pick(r, 0, 7) == 0)
    return pick(r, 0, 2) == 0 ? g.index(pick(r, -3, 6)) : vars[static_cast<size_t>(pick(r, 0, 1))];
  const Op op = kOps[pick(r, 0, std::size(kOps) - 1)];
  UOp a = randomDim(g, r, vars, depth - 1), b = randomDim(g, r, vars, depth - 1);
  const bool divides = op == Op::Floordiv || op == Op::Floormod;
  if (divides && (pick(r, 0, 2) > 0 || b.bounds().min <= 0)) b = g.index(pick(r, 2, 6));
  return g.alu(op, {a, b});
}

struct Seen {
  bool some = false, all = true;
  void add(bool holds) { some |= holds, all &= holds; }
  bool agrees(Truth t) const {
    if (t == Truth::Always) return all;
    if (t == Truth::Never) return !some;
    return t == Truth::Unknown || !all;
  }
};

int64_t valueAt(UOp dim, std::span<const UOp> vars, int64_t a, int64_t b) {
  return evaluate(dim, [&](UOp leaf) { return std::optional(Scalar::ofInt(DType::Index, leaf == vars[0] ? a : b)); })
      ->asInt();
}

void checkAnswers(Graph& g, std::span<const UOp> vars, UOp x, UOp y, size_t& decided, size_t& all) {
  Seen equal, less, divides;
  const bool canDivide = x.bounds().min > 0;
  for (int64_t a = vars[0].bounds().min; a <= vars[0].bounds().max; ++a)
    for (int64_t b = vars[1].bounds().min; b <= vars[1].bounds().max; ++b) {
      const int64_t left = valueAt(x, vars, a, b), right = valueAt(y, vars, a, b);
      equal.add(left == right), less.add(left <= right);
      if (canDivide) divides.add(right % left == 0);
    }
  INFO(toExpr(x) << " and " << toExpr(y));
  const Truth isEqual = equalDims(x, y), isLess = lessEqualDims(x, y);
  CHECK(equal.agrees(isEqual));
  CHECK(less.agrees(isLess));
  if (canDivide) CHECK(divides.agrees(dividesDim(x, y)));
  all += 2, decided += (isEqual != Truth::Unknown) + (isLess != Truth::Unknown);
  (void)g;
}

}  // namespace

TEST_CASE("answers about random dims hold for all values of their variables") {
  Random r(30);
  size_t decided = 0, all = 0;
  for (int round = 0; round < 600; ++round) {
    Graph g;
    const bool isLarge = pick(r, 0, 3) > 0;  // too large to try all points
    UOp vars[] = {g.variable("a", pick(r, 0, 1), isLarge ? 70 : 7), g.variable("b", 0, isLarge ? 40 : 4)};
    UOp x = randomDim(g, r, vars, static_cast<int>(pick(r, 1, 3)));
    UOp y = pick(r, 0, 2) ? randomDim(g, r, vars, static_cast<int>(pick(r, 1, 3)))
                          : g.alu(Op::Add, {g.alu(Op::Floordiv, {x, g.index(2)}),
                                            g.alu(Op::Floordiv, {g.alu(Op::Add, {x, g.index(1)}), g.index(2)})});
    checkAnswers(g, vars, x, y, decided, all);
  }
  CHECK(decided > all * 9 / 10);
}

namespace {

struct Size {
  Graph* g = nullptr;
  UOp node;
  Size with(Op op, Size b) const { return {g, g->alu(op, {node, b.node})}; }
  Size with(Op op, int64_t b) const { return {g, g->alu(op, {node, g->index(b)})}; }
  Size operator+(auto b) const { return with(Op::Add, b); }
  Size operator-(auto b) const { return with(Op::Sub, b); }
  Size operator*(auto b) const { return with(Op::Mul, b); }
  Size operator/(auto b) const { return with(Op::Floordiv, b); }
  Size operator%(auto b) const { return with(Op::Floormod, b); }
};
Size least(Size a, auto b) { return a.with(Op::Min, b); }
Size greatest(Size a, auto b) { return a.with(Op::Max, b); }

Size down(Size h) { return (h - 1) / 2 + 1; }  // a convolution of 3 with padding 1 and stride 2

struct Family {
  std::string_view what;
  Truth (*decide)(Size h, Size w, Size k);
};
#define CLAIM(what, question, x, y)       \
  {what, [](Size h, Size w, Size k) {     \
     (void)h, (void)w, (void)k;           \
     return question((x).node, (y).node); \
   }}
Size numberOf(Size h, int64_t value) { return {h.g, h.g->index(value)}; }

const Family kAlways[] = {
    CLAIM("halves", equalDims, h / 2 + (h + 1) / 2, h),
    CLAIM("thirds", equalDims, h / 3 + (h + 1) / 3 + (h + 2) / 3, h),
    CLAIM("chunks of a sequence", equalDims, (h + 15) / 16 * 16 - h + h, (h + 15) / 16 * 16),
    CLAIM("three steps down", equalDims, down(down(down(h))), (h + 7) / 8),
    CLAIM("down and up, of multiples", equalDims, down(down(k * 8)) * 4, k * 8),
    CLAIM("down and up, of multiples of a step", equalDims, down(k * 2) * 2, k * 2),
    CLAIM("a pool that rounds up", equalDims, (h - 2 + 1) / 2 + 1, (h + 1) / 2),
    CLAIM("dilated", equalDims, (h + 4 - 2 * 2 - 1) / 1 + 1, h),
    CLAIM("windows", equalDims, (h + 6) / 7 * 7, h + (numberOf(h, 7) - h % 7) % 7),
    CLAIM("windows of two axes", equalDims, ((h + 6) / 7) * ((w + 6) / 7) * 49, (h + 6) / 7 * 7 * ((w + 6) / 7 * 7)),
    CLAIM("patches", equalDims, (h * 16 / 16) * (w * 16 / 16), h* w),
    CLAIM("pixel shuffle", equalDims, h * 2 * (w * 2) * 3, h* w * 12),
    CLAIM("minimum and maximum", equalDims, least(h, w) + greatest(h, w), h + w),
    CLAIM("a clamped slice", equalDims, greatest(least(h, w) - numberOf(h, 0), 0), least(h, w)),
    CLAIM("rounding up stays above", lessEqualDims, h, (h + 6) / 7 * 7),
    CLAIM("rounding down stays below", lessEqualDims, h / 7 * 7, h),
    CLAIM("a padding is not negative", lessEqualDims, numberOf(h, 0), (h + 63) / 64 * 64 - h),
    CLAIM("a product is not less", lessEqualDims, h, h* w),
    CLAIM("less one", lessEqualDims, numberOf(h, 0), h* w - h),
    CLAIM("windows divide", dividesDim, numberOf(h, 7), (h + 6) / 7 * 7),
    CLAIM("heads divide", dividesDim, h * 12, w* h * 768),
    CLAIM("sound that is as long as a window and a number of steps", dividesDim, numberOf(h, 256),
          h + greatest(numberOf(h, 256) - h, 0) + (greatest(h, 256) + 255) / 256 * 256 - greatest(h, 256)),
    CLAIM("neighbours", dividesDim, numberOf(h, 2), h*(h + 1)),
};
const Family kNever[] = {
    CLAIM("one more", equalDims, h, h + 1),
    CLAIM("even and odd", equalDims, h * 2, w * 2 + 1),
    CLAIM("beyond a rounding", equalDims, (h + 6) / 7 * 7, h + 7),
    CLAIM("far beyond", lessEqualDims, h* w + h, h* w),
};
const Family kNotAlways[] = {
    CLAIM("two variables", equalDims, h, w),
    CLAIM("a rounding that cuts", equalDims, h / 2 * 2, h),
    CLAIM("a variable and a number", equalDims, h, numberOf(h, 64)),
};

}  // namespace

TEST_CASE("what holds of the sizes of models is found, however large their variables are") {
  auto check = [](const Family& f, Truth expected) {
    Graph g;
    Size h{&g, g.variable("h", 1, 100000)}, w{&g, g.variable("w", 1, 4096)}, k{&g, g.variable("k", 1, 1000)};
    INFO(f.what);
    CHECK(f.decide(h, w, k) == expected);
  };
  for (const Family& f : kAlways) check(f, Truth::Always);
  for (const Family& f : kNever) check(f, Truth::Never);
  for (const Family& f : kNotAlways) check(f, Truth::NotAlways);
}
