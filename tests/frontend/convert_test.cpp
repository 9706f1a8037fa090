// Text and JSON hold the same: every graph file of the repository converts there and back.
#include <catch2/catch.hpp>
#include <filesystem>

#include "common/temp_folder.h"
#include "frontend/frontend.h"

using namespace svod;

namespace {

GraphFile parsed(const std::string& text, const std::string& path) {
  Result<GraphFile> file = parseGraph(text, path);
  if (!file) FAIL(toText(file.error()) << "\n" << text);
  return std::move(*file);
}

// Text to JSON to text, and printing again what was printed.
void checkRoundTrip(const std::string& source, const std::string& name) {
  INFO(name);
  GraphFile file = parsed(source, name);
  std::string text = writeGraphText(file), json = writeGraphJson(file);
  GraphFile fromText = parsed(text, "a.svod"), fromJson = parsed(json, "a.json");
  CHECK(writeGraphText(fromText) == text);
  CHECK(writeGraphJson(fromText) == json);
  CHECK(writeGraphText(fromJson) == text);
  CHECK(writeGraphJson(fromJson) == json);
}

std::string body(const std::string& expression) { return "svod 1\noutput y = " + expression + "\n"; }

// The expression as it is printed after being read.
std::string printed(const std::string& expression) {
  Result<GraphExpr> e = parseGraphExpr(expression, "");
  if (!e) FAIL(toText(e.error()));
  return writeGraphExpr(*e);
}

}  // namespace

TEST_CASE("graph files convert to JSON and back") {
  size_t count = 0;
  for (const char* folder : {"tests/frontend/values", "tests/frontend/graphs", "examples"}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      std::string extension = entry.path().extension().string();
      if (extension != ".svod" && extension != ".json") continue;
      if (entry.path().string().find(".plan/") != std::string::npos) continue;
      checkRoundTrip(readText(entry.path().string()), entry.path().string());
      ++count;
    }
  }
  CHECK(count > 20);
}

TEST_CASE("comparisons and @ are ops, and bind as in Python") {
  CHECK(printed("x < 2") == "lt(x, 2)");
  CHECK(printed("x <= 2") == "le(x, 2)");
  CHECK(printed("x > 2") == "gt(x, 2)");
  CHECK(printed("x >= -2") == "ge(x, -2)");
  CHECK(printed("x<-2") == "lt(x, -2)");
  CHECK(printed("x == y") == "eq(x, y)");
  CHECK(printed("x != y") == "ne(x, y)");
  CHECK(printed("a + b * c > d - e") == "gt(a + b * c, d - e)");
  CHECK(printed("(a > b) == c") == "eq(gt(a, b), c)");
  CHECK(printed("a + (b > c)") == "a + gt(b, c)");
  CHECK(printed("f(a == b, axis=2)") == "f(eq(a, b), axis=2)");
  CHECK(printed("x @ y") == "matmul(x, y)");
  CHECK(printed("a @ b @ c") == "matmul(matmul(a, b), c)");
  CHECK(printed("a * b @ c * d") == "matmul(a * b, c) * d");
  CHECK(printed("-a @ -b + c") == "matmul(-a, -b) + c");
  CHECK(printed("a - b @ c") == "a - matmul(b, c)");
}

TEST_CASE("products and comparisons nest, and deep nesting is refused") {
  std::string products = "a", brackets = "a";
  for (int i = 0; i < 100000; ++i) products += " @ a";
  CHECK(parseGraphExpr(products, "").error()->diag == Diag::Syntax);
  for (int i = 0; i < 250; ++i) brackets = "(" + brackets + " < a)";
  CHECK(parseGraphExpr(brackets, "").error()->diag == Diag::Syntax);
  for (const char* broken :
       {"a <", "< a", "a < b < c", "a == b != c", "a @", "@ a", "a ! b", "a = b", "a => b", "a <> b"})
    CHECK(parseGraphExpr(broken, "").error()->diag == Diag::Syntax);
}

TEST_CASE("a graph with comparisons and @ is the one with their ops") {
  const std::string head = "svod 1\nvar n in [1, 9]\ninput x: f32[n, 4]\nweight w: f32[4, 4] = 0.5\n";
  const std::string loop = "temp h: f32 = 0\nloop t < n while ";
  GraphFile sugar = parsed(head + loop + "h <= 3 {\n  assign h = h + 1\n  if h > 2 {\n    assign h = 9\n  }\n}\n" +
                               "output y = where(x @ w + h >= 0, x, 1 - x)\n",
                           "a.svod");
  GraphFile plain = parsed(head + loop + "le(h, 3) {\n  assign h = h + 1\n  if gt(h, 2) {\n    assign h = 9\n  }\n}\n" +
                               "output y = where(ge(matmul(x, w) + h, 0), x, 1 - x)\n",
                           "a.svod");
  CHECK(writeGraphText(sugar) == writeGraphText(plain));
  CHECK(checkGraphFile(sugar, {}).empty());
}

TEST_CASE("parts of values are slice and at") {
  CHECK(printed("x[0]") == "at(x, positions=[0], axes=[0])");
  CHECK(printed("x[n - 1, -2]") == "at(x, positions=[n - 1, -2], axes=[0, 1])");
  CHECK(printed("x[1:n]") == "slice(x, starts=[1], ends=[n], axes=[0])");
  CHECK(printed("x[:, ::-2]") == "slice(x, starts=[-1], steps=[-2], axes=[1])");
  CHECK(printed("x[..., :3]") == "slice(x, starts=[0], ends=[3], axes=[-1])");
  CHECK(printed("x[2:, :3]") == "slice(slice(x, starts=[0], ends=[3], axes=[1]), starts=[2], axes=[0])");
  CHECK(printed("x[1:2, ..., 0]") == "at(slice(x, starts=[1], ends=[2], axes=[0]), positions=[0], axes=[-1])");
  CHECK(printed("x[:]") == "x");
  CHECK(printed("x[...]") == "x");
  CHECK(printed("relu(a + b)[0][1:]") ==
        printed("slice(at(relu(a + b), positions=[0], axes=[0]), starts=[1], axes=[0])"));
  CHECK(printed("-x[0] + f(a=[1, 2])[0]") == printed("-(x[0]) + (f(a=[1, 2]))[0]"));
  for (const char* broken :
       {"x[", "x[]", "x[0", "x[0 1]", "x[,]", "x[..., ...]", "x[::0]", "x[1:2:3:4]", "x[1:2:n]", "x]", "..."})
    CHECK(parseGraphExpr(broken, "").error()->diag == Diag::Syntax);
  std::string deep = "x";
  for (int i = 0; i < 250; ++i) deep += "[0]";
  CHECK(parseGraphExpr(deep, "").error()->diag == Diag::Syntax);
}

TEST_CASE("chains of operators are no nesting, however long they are") {
  CHECK(printed("a + b - c + d") == "a + b - c + d");
  CHECK(printed("(a + b) + c") == "a + b + c");
  CHECK(printed("a + (b + c)") == "a + (b + c)");
  CHECK(printed("a - (b - c) - d") == "a - (b - c) - d");
  CHECK(printed("a * b // c % d / e") == "a * b // c % d / e");
  CHECK(printed("a * (b // c) + -d * 2") == "a * (b // c) + -d * 2");
  CHECK(printed("-(a + b + c)") == "-(a + b + c)");
  for (std::string_view operators : {"+", "-", "+-", "*", "*/%"}) {
    std::string chain = "x";
    for (size_t i = 1; i < 100'000; ++i) chain += std::string(" ") + operators[i % operators.size()] + " x";
    checkRoundTrip("svod 1\ninput x: f32[2]\noutput y = " + chain + "\n", std::string(operators));
    checkRoundTrip("svod 1\nvar x in [1, 2]\ninput y: f32[" + chain + "]\noutput y\n", std::string(operators));
  }
}

TEST_CASE("JSON has chains as nested calls, with one operator, or with a list of them") {
  auto text = [](const std::string& value) {
    return writeGraphText(parsed(R"({"svod": 1, "statements": [{"output": "y", )" + value + "}]}", "a.json"));
  };
  CHECK(text(R"("op": "+", "args": ["a", "b", "c"])") == body("a + b + c"));
  CHECK(text(R"("op": ["+", "-"], "args": ["a", "b", "c"])") == body("a + b - c"));
  CHECK(text(R"("op": ["+", "*"], "args": ["a", "b", "c"])") == body("(a + b) * c"));
  CHECK(text(R"("op": "-", "args": [{"op": "+", "args": ["a", "b"]}, "c"])") == body("a + b - c"));
  CHECK(text(R"("op": "-", "args": ["a"])") == body("-a"));
}

TEST_CASE("bodies survive") {
  checkRoundTrip(R"(svod 1
temp a: f32[2] = 0  # starts
temp b = a
loop i < 2 * (n + 1) while any(lt(a, 3)), unroll=true {  # head
  # first
  x = a + 1
  if gt(sum(x), 3) {

    assign a = x
    # end of then
  } else {  # else
    loop `odd name` < 3 {
    }
    # end of else
  }
  # end of loop
}  # behind
if true {
}
output a
)",
                 "bodies.svod");
}

TEST_CASE("every kind of statement and value survives") {
  checkRoundTrip(R"(# before the header
svod 1  # behind it

# a variable
var n in [-4, 64] ~ 3 = 8
input x: f32[n, 2*(n + 1) - 3, n // 2 % 5]  # an input
input s: bool
weight a: f32[2, 2] = [[1, -2.5], [inf, nan]]
weight b: f32[2] = "weights.npy"
weight c: u64 = 18446744073709551615
weight d: f16[4] = 1e-7
state t: i8[3]
state u: i8[3] = zeros
h: f32[2] = relu(-x + -3 - (1 - 2) * (a / (b / c)))
p, _, `odd name/1` = split(x,  # inside
  sizes=[1, n, 0x10], axis=-1)
q = custom(p, function="a \"quoted\" name\n", shape=[], dtype=f32)
assign slice(t, starts=[0], ends=[1]) = q
output `odd name/1`
output z = `true` + true
output = 3
# the end
)",
                 "all.svod");
}

TEST_CASE("expressions print with the brackets they need") {
  for (const char* text : {"a + b * c",
                           "(a + b) * c",
                           "a - (b - c)",
                           "a - b - c",
                           "a // (b % c)",
                           "-x",
                           "-(3)",
                           "-f(x)",
                           "a - -3",
                           "-(-(3))",
                           "f(a, b=[1, 2.0, true], c=word)",
                           "`a b`",
                           "-inf",
                           "nan",
                           "--x",
                           "1e+300",
                           "0.1",
                           "-(a + b)",
                           "(-a) * b",
                           "18446744073709551615"}) {
    INFO(text);
    std::string once = printed(text);
    CHECK(printed(once) == once);
  }
  CHECK(printed("(a + b) * c") == "(a + b) * c");
  CHECK(printed("a + (b * c)") == "a + b * c");
  CHECK(printed("a-(b-c)") == "a - (b - c)");
  CHECK(printed("-(3)") == "-(3)");
  CHECK(printed("0x1F") == "31");
  CHECK(printed("1.50") == "1.5");
  CHECK(printed("`plain`") == "plain");
  CHECK(printed("`true`") == "`true`");
}

TEST_CASE("a file is read by its extension or first character") {
  std::string json = writeGraphJson(parsed(body("1"), "a.svod"));
  CHECK(parseGraph(json, "-").has_value());
  CHECK(parseGraph(body("1"), "-").has_value());
  CHECK(parseGraph(json, "a.json").has_value());
  CHECK_FALSE(parseGraph(json, "a.svod").has_value());
  CHECK_FALSE(parseGraph(body("1"), "a.json").has_value());
}

TEST_CASE("long lists and chains are read without deep recursion") {
  std::string list = "svod 1\nweight w: f32[100000] = [";
  for (int i = 0; i < 100000; ++i) list += i == 0 ? "1" : ",1";
  checkRoundTrip(list + "]\noutput w\n", "list.svod");
  std::string deep(180, '(');
  CHECK(parseGraph(body(deep + "1" + std::string(180, ')')), "a.svod").has_value());
  CHECK_FALSE(parseGraph(body(std::string(100000, '(')), "a.svod").has_value());
  CHECK_FALSE(parseGraph(body(std::string(100000, '-') + "1"), "a.svod").has_value());
  CHECK_FALSE(parseGraph(body(std::string(100000, '[')), "a.svod").has_value());
}
