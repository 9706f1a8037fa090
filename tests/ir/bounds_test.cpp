// Bounds contain every value an expression takes: all operand pairs of small intervals, and random expressions.
#include <catch2/catch.hpp>
#include <random>

#include "ir/evaluate.h"
#include "ir/text.h"

using namespace svod;

namespace {

using Random = std::mt19937_64;
int64_t pick(Random& r, int64_t min, int64_t max) {
  return min + static_cast<int64_t>(r() % static_cast<uint64_t>(max - min + 1));
}

bool contains(UOp u, const Scalar& value) {
  if (isFloat(u.dtype()) || u.dtype() == DType::U64) return true;
  return u.bounds().min <= value.asInt() && value.asInt() <= u.bounds().max;
}

constexpr Op kBinary[] = {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::Cdiv, Op::Cmod, Op::Floordiv, Op::Floormod,
                          Op::Shl, Op::Shr, Op::And, Op::Or,  Op::Xor, Op::Lt,   Op::Le,   Op::Eq,       Op::Ne};
constexpr Op kUnary[] = {Op::Neg, Op::Not, Op::Abs};

UOp leaf(Graph& g, DType d, std::string_view name, int64_t min, int64_t max) {
  return g.make(Op::Var, d, std::span<const UOp>{}, VarArg{name, min, max});
}

UOp randomExpression(Graph& g, Random& r, std::span<const UOp> leaves, int depth) {
  if (depth == 0 || pick(r, 0, 9) == 0)
    return leaves[static_cast<size_t>(pick(r, 0, static_cast<int64_t>(leaves.size()) - 1))];
  auto operand = [&] { return randomExpression(g, r, leaves, depth - 1); };
  UOp a = operand();
  switch (pick(r, 0, 7)) {
    case 0: {
      Op op = kUnary[pick(r, 0, 2)];
      return g.alu(op, {a});
    }
    case 1: {
      constexpr DType kTo[] = {DType::I8,    DType::U8,   DType::I32, DType::I64,
                               DType::Index, DType::Bool, DType::U16, DType::U64};
      return g.cast(a, kTo[pick(r, 0, 7)]);
    }
    case 2: {
      UOp condition = g.cast(operand(), DType::Bool);
      return g.where(condition, a, g.cast(operand(), a.dtype()));
    }
    default: return g.alu(kBinary[pick(r, 0, std::size(kBinary) - 1)], {a, g.cast(operand(), a.dtype())});
  }
}

}  // namespace

TEST_CASE("bounds of every op contain all results over small intervals") {
  for (DType d : {DType::Bool, DType::I8, DType::U8, DType::Index}) {
    std::vector<Interval> intervals;
    std::vector<int64_t> ends = {-128, -127, -9, -3, -1, 0, 1, 2, 5, 7, 8, 127};
    if (d == DType::U8) ends = {0, 1, 2, 3, 7, 8, 9, 128, 255};
    if (d == DType::Bool) ends = {0, 1};
    if (d == DType::Index) ends = {-20, -7, -3, -1, 0, 1, 3, 6, 20};
    for (int64_t lo : ends)
      for (int64_t hi : ends)
        if (lo <= hi && hi - lo < 30) intervals.push_back({lo, hi});
    for (Op op : kBinary) {
      int wrong = 0;
      Graph g;
      for (Interval x : intervals)
        for (Interval y : intervals) {
          UOp a = leaf(g, d, "a", x.min, x.max), b = leaf(g, d, "b", y.min, y.max), node = g.alu(op, {a, b});
          for (int64_t i = x.min; i <= x.max; ++i)
            for (int64_t j = y.min; j <= y.max; ++j) {
              Scalar operands[] = {Scalar::ofInt(d, i), Scalar::ofInt(d, j)};
              wrong += !contains(node, evalScalar(op, node.dtype(), operands));
            }
        }
      INFO(toText(op) << " " << toText(d));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("bounds of random expressions contain every evaluated value") {
  Random r(11);
  constexpr DType kLeaf[] = {DType::Index, DType::I8, DType::U8, DType::I32, DType::Bool, DType::I64, DType::U32};
  for (int round = 0; round < 2000; ++round) {
    Graph g;
    std::vector<UOp> leaves;
    for (int i = 0; i < 3; ++i) {
      DType d = kLeaf[pick(r, 0, std::size(kLeaf) - 1)];
      int64_t lo = std::max(minInt(d), pick(r, -50, 20)), hi = std::min(maxInt(d), lo + pick(r, 0, 40));
      if (d == DType::Bool) lo = 0, hi = 1;
      std::string name(1, static_cast<char>('a' + i));
      leaves.push_back(pick(r, 0, 3) == 0 ? g.constant(Scalar::ofInt(d, lo)) : leaf(g, d, name, lo, hi));
    }
    UOp root = randomExpression(g, r, leaves, 4);
    std::vector<UOp> order = toposort(root);
    for (int point = 0; point < 8; ++point) {
      uint64_t seed = r();
      auto at = [seed](UOp u) -> std::optional<Scalar> {
        Random local(seed ^ u.hash().lo);
        return Scalar::ofInt(u.dtype(), pick(local, u.bounds().min, u.bounds().max));
      };
      for (UOp n : order) {
        Scalar value = *evaluate(n, at);
        if (contains(n, value)) continue;
        FAIL(toExpr(n) << " is " << toText(value) << ", outside " << n.bounds().min << ".." << n.bounds().max << "\n"
                       << toUopText(n));
      }
    }
  }
}

TEST_CASE("bounds are tight where index arithmetic needs them") {
  Graph g;
  UOp r0 = g.range(g.index(8), 0, AxisType::Loop), n = g.variable("n", 1, 64);
  auto bounds = [&](UOp u) { return u.bounds(); };
  CHECK(bounds(r0) == Interval{0, 7});
  CHECK(bounds(g.alu(Op::Add, {g.alu(Op::Mul, {r0, g.index(16)}), g.index(3)})) == Interval{3, 115});
  CHECK(bounds(g.alu(Op::Floordiv, {g.alu(Op::Sub, {r0, g.index(3)}), g.index(2)})) == Interval{-2, 2});
  CHECK(bounds(g.alu(Op::Floormod, {r0, g.index(16)})) == Interval{0, 7});
  CHECK(bounds(g.alu(Op::Floormod, {g.alu(Op::Sub, {r0, g.index(3)}), g.index(4)})) == Interval{0, 3});
  CHECK(bounds(g.range(n, 1, AxisType::Loop)) == Interval{0, 63});
  CHECK(bounds(g.alu(Op::Lt, {r0, g.index(8)})) == Interval{1, 1});
  CHECK(bounds(g.cast(g.alu(Op::Add, {r0, g.index(250)}), DType::U8)) == Interval{0, 255});
  CHECK(bounds(g.make(Op::Ramp, DType::Index, {r0}, SlotArg{4})) == Interval{0, 10});
  CHECK(bounds(g.alu(Op::And, {g.alu(Op::Sub, {r0, g.index(100)}), g.index(15)})) == Interval{0, 15});
}
