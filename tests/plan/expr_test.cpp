#include "plan/expr.h"

#include <catch2/catch.hpp>
#include <random>

using namespace svod;

namespace {
const std::vector<std::string> kNames = {"n", "m", "batch size"};
int64_t value(const std::string& text, std::vector<int64_t> values = {17, 5, 3}) {
  auto expr = parseExpr(text, kNames);
  INFO(text);
  REQUIRE(expr);
  auto result = expr->evaluate(values, kNames);
  REQUIRE(result);
  return *result;
}
bool refused(const std::string& text) { return !parseExpr(text, kNames); }

Expr randomExpr(std::mt19937& random, int depth) {
  if (depth == 0 || random() % 4 == 0)
    return random() % 2 != 0 ? Expr::variable(random() % 3) : Expr(static_cast<int64_t>(random() % 21) - 10);
  const ExprOp ops[] = {ExprOp::Add, ExprOp::Sub, ExprOp::Mul, ExprOp::FloorDiv,
                        ExprOp::Mod, ExprOp::Max, ExprOp::Min, ExprOp::CeilDiv};
  return Expr::make(ops[random() % 8], randomExpr(random, depth - 1), randomExpr(random, depth - 1));
}
}  // namespace

TEST_CASE("expressions: values, precedence and rounding") {
  CHECK(value("(n*4+3)//8") == 8);
  CHECK(value("n+m*2") == 27);
  CHECK(value("n-m-1") == 11);
  CHECK(value("n-(m-1)") == 13);
  CHECK(value("-7//2") == -4);
  CHECK(value("-7%2") == 1);
  CHECK(value("7//-2") == -4);
  CHECK(value("7%-2") == -1);
  CHECK(value("ceildiv(n,m)") == 4);
  CHECK(value("ceildiv(-7,2)") == -3);
  CHECK(value("max(n,m)+min(n,m)") == 22);
  CHECK(value("`batch size` * m") == 15);
  CHECK(value("-9223372036854775808") == INT64_MIN);
}

TEST_CASE("expressions: overflow and division by zero are errors that show the values") {
  for (const char* text : {"n//(m-5)", "n%(m-5)", "ceildiv(n,m-5)", "n*4611686018427387904", "n+9223372036854775800",
                           "-9223372036854775800-n"}) {
    auto expr = parseExpr(text, kNames);
    REQUIRE(expr);
    auto result = expr->evaluate(std::vector<int64_t>{17, 5, 3}, kNames);
    REQUIRE(!result);
    CHECK(result.error()->message.find("n=17 m=5") != std::string::npos);
  }
  CHECK(!parseExpr("n", kNames)->tryEvaluate({}));
  for (const char* text : {"-9223372036854775808//(m-6)", "ceildiv(-9223372036854775808,m-6)"})
    CHECK(!parseExpr(text, kNames)->tryEvaluate(std::vector<int64_t>{0, 5}));
}

TEST_CASE("expressions: what does not parse") {
  for (const char* text :
       {"", "k", "n+", "(n", "n)", "max(n)", "max n", "1 2", "9223372036854775808", "`n", "n**2", "n/2", "+"})
    CHECK(refused(text));
  CHECK(refused(std::string(100, '(') + "n" + std::string(100, ')')));
  std::string longSum = "n";
  for (size_t i = 0; i < Expr::kMaxNodes / 2; i++) longSum += "+n";
  CHECK(refused(longSum));
  CHECK(!refused(longSum.substr(2)));
}

TEST_CASE("expressions: what is too long or too deep to be read is known before it is written") {
  const Expr n = Expr::variable(0), m = Expr::variable(1);
  int readable = 0, unreadable = 0;
  auto check = [&](const Expr& expr) {
    const std::string text = toText(expr, kNames);
    INFO(text.substr(0, 100));
    const Result<Expr> parsed = parseExpr(text, kNames);
    CHECK(canBeRead(expr) == parsed.has_value());
    if (parsed)
      CHECK(parsed->tryEvaluate(std::vector<int64_t>{3, 2, 1}) == expr.tryEvaluate(std::vector<int64_t>{3, 2, 1}));
    const bool divides = text.find("//") != std::string::npos || text.find('%') != std::string::npos;
    if (parsed && !divides) CHECK(expr.tryEvaluate(std::vector<int64_t>{3, 2, 1}).has_value());
    parsed ? ++readable : ++unreadable;
  };
  const ExprOp kinds[] = {ExprOp::Add, ExprOp::Sub, ExprOp::Mul, ExprOp::FloorDiv,
                          ExprOp::Mod, ExprOp::Max, ExprOp::Min};
  for (ExprOp op : kinds) {
    Expr left = n, right = n, deep = n;
    for (size_t i = 0; i < 40; i++) {
      left = Expr::make(op, op == ExprOp::Mul && i > 30 ? n : left, m);
      right = Expr::make(op, m, op == ExprOp::Mod || (op == ExprOp::Mul && i > 30) ? n : right);
      deep = n - m * Expr::make(ExprOp::Min, m, deep);
      if (i > 25) check(left), check(right), check(deep);
    }
  }
  Expr sum = n;
  for (size_t words = 1; words < Expr::kMaxNodes - 2; words += 2) sum = sum + m;
  check(sum);
  check(sum + n);
  check(sum + n + m);
  CHECK(readable > 100);
  CHECK(unreadable > 20);
}

TEST_CASE("expressions: printing and parsing are inverse") {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; i++) {
    const Expr expr = randomExpr(random, 4);
    const std::string text = toText(expr, kNames);
    INFO(text);
    auto parsed = parseExpr(text, kNames);
    REQUIRE(parsed);
    CHECK(toText(*parsed, kNames) == text);
    const std::vector<int64_t> values = {static_cast<int64_t>(random() % 100), 7, -3};
    CHECK(parsed->tryEvaluate(values) == expr.tryEvaluate(values));
  }
}

TEST_CASE("expressions: constants and single variables are seen") {
  CHECK((Expr(3) * Expr(4) + 1).constant() == 13);
  CHECK((Expr::variable(1) * 1 + 0).singleVar() == 1u);
  CHECK(!(Expr::variable(1) * 2).singleVar());
  CHECK((Expr::variable(1) * 2).varCount() == 2);
}

TEST_CASE("expressions: lines in one variable are what evaluating says") {
  std::mt19937 random(2);
  int lines = 0;
  for (int i = 0; i < 4000; i++) {
    const Expr expr = randomExpr(random, 3);
    const auto unknown = static_cast<uint32_t>(random() % 3);
    std::vector<int64_t> values = {static_cast<int64_t>(random() % 50), 7, -3};
    const std::optional<Expr::Line> line = expr.lineIn(unknown, values);
    if (!line) continue;
    lines += line->times != 0;
    INFO(toText(expr, kNames));
    for (int64_t v : {-5, 0, 1, 2, 40}) {
      values[unknown] = v;
      CHECK(expr.tryEvaluate(values) == line->times * v + line->constant);
    }
  }
  CHECK(lines > 200);
  CHECK(!parseExpr("n*n", kNames)->lineIn(0, {{1, 2, 3}}));
  CHECK(!parseExpr("n//2", kNames)->lineIn(0, {{1, 2, 3}}));
  CHECK(parseExpr("m//2 + 3*n", kNames)->lineIn(0, {{0, 9, 0}}) == Expr::Line{3, 4});
}
