// The matcher and the engine on small rule sets of their own.
#include <catch2/catch.hpp>

#include "rewrite/dsl.h"
#include "rewrite/rewrite.h"

using namespace svod;

namespace {

UOp leaf(Graph& g, const char* name, DType d = DType::I32) {
  return g.make(Op::Var, d, std::span<const UOp>{}, VarArg{name, minInt(d), maxInt(d)});
}
UOp number(Graph& g, int64_t v, DType d = DType::I32) { return g.constant(Scalar::ofInt(d, v)); }

UOp countVisits(const Match& m) {
  ++*static_cast<int*>(m.context);
  return {};
}

constexpr Rule kArithmetic[] = {
    rule("add-zero", x + 0, x, kInts),
    rule("fold-add", c0 + c1, fold(c0 + c1), kInts),
    rule("mul-two", x * 2, x + x, kInts),
    rule("cancel", either(x + y) - y, x, kInts),
    rule("select-less", where(x < y, x, y), min(x, y), kInts),
    rule("guarded", x - c0, x + fold(-c0), kInts, [](const Match& m) { return m[c0] > 10; }),
};
constexpr RuleGroup kArithmeticGroup{"arithmetic", kArithmetic};
constexpr RuleSet kArithmeticSet{"arithmetic", {&kArithmeticGroup}};

constexpr Rule kCounting[] = {native("count", trait(Elementwise), kAllDomains, countVisits)};
constexpr RuleGroup kCountingGroup{"counting", kCounting};
constexpr RuleSet kCountingSet{"counting", {&kCountingGroup}};

}  // namespace

TEST_CASE("rules apply bottom up and replacements are rewritten again") {
  Graph g;
  UOp a = leaf(g, "a"), b = leaf(g, "b");
  UOp two = g.alu(Op::Add, {number(g, 1), number(g, 1)});
  UOp root = g.alu(Op::Add, {g.alu(Op::Mul, {a, two}), number(g, 0)});
  CHECK(rewrite(g, root, kArithmeticSet) == g.alu(Op::Add, {a, a}));
  UOp select = g.where(g.alu(Op::Lt, {a, b}), a, b);
  CHECK(rewrite(g, select, kArithmeticSet) == g.alu(Op::Min, {a, b}));
}

TEST_CASE("a capture used twice matches one node, commuted patterns match both orders") {
  Graph g;
  UOp a = leaf(g, "a"), b = leaf(g, "b"), c = leaf(g, "c");
  UOp sum = g.alu(Op::Add, {a, b});
  CHECK(rewrite(g, g.alu(Op::Sub, {sum, b}), kArithmeticSet) == a);
  CHECK(rewrite(g, g.alu(Op::Sub, {sum, a}), kArithmeticSet) == b);
  UOp other = g.alu(Op::Sub, {sum, c});
  CHECK(rewrite(g, other, kArithmeticSet) == other);
}

TEST_CASE("guards see constants and may refuse") {
  Graph g;
  UOp a = leaf(g, "a");
  UOp small = g.alu(Op::Sub, {a, number(g, 10)}), big = g.alu(Op::Sub, {a, number(g, 11)});
  CHECK(rewrite(g, small, kArithmeticSet) == small);
  CHECK(rewrite(g, big, kArithmeticSet) == g.alu(Op::Add, {a, number(g, -11)}));
}

TEST_CASE("domains select dtypes; unsigned constants are not negative literals") {
  Graph g;
  UOp f = g.make(Op::Var, DType::F32, std::span<const UOp>{}, VarArg{"f", 0, 0});
  UOp sum = g.alu(Op::Add, {f, g.constant(Scalar::ofFloat(DType::F32, 0))});
  CHECK(rewrite(g, sum, kArithmeticSet) == sum);
  static constexpr Rule kMinusOne[] = {rule("minus-one", x / -1, -x, kInts)};
  static constexpr RuleGroup kGroup{"g", kMinusOne};
  UOp u = leaf(g, "u", DType::U8), node = g.alu(Op::Floordiv, {u, number(g, 255, DType::U8)});
  CHECK(rewrite(g, node, RuleSet{"s", {&kGroup}}) == node);
}

TEST_CASE("folding index constants refuses to overflow") {
  Graph g;
  UOp big = g.index(INT64_MAX), sum = g.alu(Op::Add, {big, g.index(1)});
  CHECK(rewrite(g, sum, kArithmeticSet) == sum);
  UOp wraps = g.alu(Op::Add, {number(g, INT32_MAX), number(g, 1)});
  CHECK(rewrite(g, wraps, kArithmeticSet) == number(g, INT32_MIN));
}

TEST_CASE("every node is visited once, however often it is used") {
  Graph g;
  UOp n = leaf(g, "a");
  for (int i = 0; i < 40; ++i) n = g.alu(Op::Add, {n, n});
  int visits = 0;
  CHECK(rewrite(g, n, kCountingSet, nullptr, &visits) == n);
  CHECK(visits == 40);
}

TEST_CASE("deep chains need no call stack") {
  Graph g;
  UOp a = leaf(g, "a"), n = a;
  for (int i = 0; i < 300000; ++i) n = g.alu(i % 2 ? Op::Xor : Op::And, {n, number(g, i + 1)});
  UOp root = g.alu(Op::Add, {n, number(g, 0)});
  CHECK(rewrite(g, root, kArithmeticSet) == n);
}

TEST_CASE("statistics, disabled rules and listings") {
  Graph g;
  UOp a = leaf(g, "a"), root = g.alu(Op::Add, {g.alu(Op::Mul, {a, number(g, 2)}), number(g, 0)});
  Matcher all(kArithmeticSet);
  RewriteStats stats;
  rewrite(g, root, all, &stats);
  CHECK(stats.rewritten == 2);
  CHECK(stats.trouble.empty());
  CHECK(stats.counts[0].hits == 1);
  CHECK(stats.counts[2].hits == 1);
  CHECK(toText(stats, all).find("add-zero") != std::string::npos);

  constexpr std::string_view kOff[] = {"mul-two"};
  Matcher some(kArithmeticSet, kOff);
  CHECK(rewrite(g, root, some) == g.alu(Op::Mul, {a, number(g, 2)}));

  CHECK(toText(kArithmetic[0]) == "x + 0 -> x");
  CHECK(toText(kArithmetic[1]) == "c0 + c1 -> fold(c0 + c1)");
  CHECK(toText(kArithmetic[4]) == "where(x < y, x, y) -> min(x, y)");
  CHECK(toText(kCounting[0]) == "any -> native");
  CHECK(listRules(kArithmeticSet).find("arithmetic arithmetic cancel  (x + y) - y -> x  ") != std::string::npos);
}

TEST_CASE("a rewriter may leave ranges alone") {
  Graph g;
  UOp n = leaf(g, "n", DType::Index), end = g.alu(Op::Add, {n, g.index(0)});
  UOp r = g.range(end, 0, AxisType::Loop), root = g.alu(Op::Add, {r, g.index(0)});
  Matcher matcher(kArithmeticSet);
  CHECK(Rewriter(g, matcher, nullptr, KeepNodes::Ranges).run(root) == r);
  CHECK(Rewriter(g, matcher).run(root) == g.range(n, 0, AxisType::Loop));
}

#ifdef NDEBUG
TEST_CASE("rules that undo each other end with a report") {
  static constexpr Rule kSwap[] = {rule("swap", x + y, y + x, kInts)};
  static constexpr RuleGroup kGroup{"g", kSwap};
  Graph g;
  UOp root = g.alu(Op::Add, {leaf(g, "a"), leaf(g, "b")});
  RewriteStats stats;
  rewrite(g, root, RuleSet{"s", {&kGroup}}, &stats);
  CHECK(stats.trouble.find("swap") != std::string::npos);
}
#endif
