// `.uop` text round-trips: print(parse(t)) == t for every op, arg and literal form.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "ir/text.h"

using namespace svod;

namespace {

// Printed text parses to the same node, and prints as itself from there on.
void checkRoundTrip(const std::string& text) {
  INFO(text);
  Graph graph;
  Result<UOp> root = parseUop(graph, text);
  if (!root) FAIL(toText(root.error()));
  std::string printed = toUopText(*root);
  Result<UOp> again = parseUop(graph, printed);
  if (!again) FAIL(toText(again.error()));
  CHECK(*again == *root);
  CHECK(toUopText(*again) == printed);
  CHECK(std::ranges::count(printed, '\n') == std::ranges::count(text, '\n'));
  Graph other;
  CHECK(other.clone(*root).hash() == root->hash());
}

// Text that uses each op that is not elementwise at least once, over the stages.
constexpr const char* kTexts[] = {
    // tensor stage
    R"(%0 = buffer 4, 8 {0} : f32[4,8]
%1 = buffer 4, 8 {1} : f32[4,8]
%2 = add %0, %1 : f32[4,8]
%3 = mul %2, 2.0:f32 : f32[4,8]
%4 = reduce %3 {add, 1} : f32[4]
%5 = reshape %4, 2, 2 : f32[2,2]
%6 = expand %5, 2, 2 : f32[2,2]
%7 = permute %6 {1, 0} : f32[2,2]
%8 = pad %7, 0.5:f32, 1, 0, 1, 0 : f32[4,2]
%9 = shrink %8, 1, 0, 2, 2 : f32[2,2]
%10 = flip %9 {0} : f32[2,2]
%11 = contiguous %10 : f32[2,2]
%12 = copy %11 {"cpu:0"} : f32[2,2]
%13 = iota 2 : i32[2]
%14 = reshape %13, 2, 1 : i32[2,1]
%15 = expand %14, 2, 2 : i32[2,2]
%16 = gather %12, %15, %15 : f32[2,2]
%17 = scatter %12, %15, %15, %16 {store} : f32[2,2]
%18 = custom %17, 3, 5 {"host fn", 1} : f64[3,5]
%19 = buffer 3, 5 {2} : f64[3,5]
%20 = store %19, %18
%21 = after %19, %20 : f64[3,5]
%22 = neg %21 : f64[3,5]
%23 = store %19, %22
%24 = sink %20, %23
)",
    // symbolic dims
    R"(%0 = var {"n", 1, 64} : index
%1 = buffer %0, 8 {0} : f32[n,8]
%2 = pad %1, 0.0:f32, 0, 0, 3, 0 : f32[n + 3,8]
%3 = mul %0, 8 : index
%4 = reshape %1, %3 : f32[n*8]
%5 = sink %2, %4
)",
    // a likely value other than the usual one
    R"(%0 = var {"n", 1, 64, 8} : index
%1 = buffer %0 {0} : f32[n]
%2 = sink %1
)",
    // kernel stage
    R"(%0 = param 64 {1} : f32[64]
%1 = range 8 {0, loop} : index
%2 = mul %1, 8 : index
%3 = range 8 {1, reduce} : index
%4 = add %2, %3 : index
%5 = index %0, %4 : f32
%6 = lt %4, 60 : bool
%7 = load %5, 0.0:f32, %6 : f32
%8 = reduce %7, %3 {max} : f32
%9 = buffer 8 {3, local} : f32[8]
%10 = index %9, %1 : f32
%11 = store %10, %8
%12 = fill %11, %1 {store} : f32[8]
%13 = range 8 {2, thread} : index
%14 = index %12, %13 : f32
%15 = load %14 : f32
%16 = param 8 {0} : f32[8]
%17 = index %16, %13 : f32
%18 = store %17, %15
%19 = end %18, %13
%20 = sink %19
)",
    // lowered and linear
    R"(%0 = param 64 {0} : f32[64]
%1 = range 16:i64 {0, loop} : i64
%2 = mul %1, 4:i64 : i64
%3 = ramp %2 {4} : i64[4]
%4 = index %0, %3 : f32[4]
%5 = load %4 : f32[4]
%6 = buffer 4 {0, reg} : f32[4]
%7 = mulacc %5, %5, 1.0:f32 : f32[4]
%8 = lane %7 {3} : f32
%9 = reduce %7 {add} : f32
%10 = stack %8, %9, %8, %9 : f32[4]
%11 = store %4, %10
%12 = barrier %11
%13 = special 4:i32 {"lidx0", 0, 3} : i32
%14 = cast %13 : f32
%15 = ramp 0:i64 {4} : i64[4]
%16 = index %6, %15 : f32[4]
%17 = store %16, %14
%18 = group %12, %17
%19 = end %18, %1
%20 = sink %19
)",
    R"(%0 = param 32 {1} : u8[32]
%1 = ramp 0 {8} : index[8]
%2 = index %0, %1 : u8[8]
%3 = load %2 : u8[8]
%4 = stack 1:i8, 2:i8, 3:i8, 4:i8 : i8[4]
%5 = stack 5:i32, 6:i32 : i32[2]
%6 = dot %3, %4, %5 {4} : i32[2]
%7 = param 2 {0} : i32[2]
%8 = ramp 0 {2} : index[2]
%9 = index %7, %8 : i32[2]
%10 = store %9, %6
%11 = sink %10
)",
    R"(%0 = param 32 {1} : bf16[32]
%1 = ramp 0 {4} : index[4]
%2 = index %0, %1 : bf16[4]
%3 = load %2 : bf16[4]
%4 = stack 1.0:bf16, 2.0:bf16 : bf16[2]
%5 = stack 5.0:f32, 6.0:f32 : f32[2]
%6 = dot %3, %4, %5 {2} : f32[2]
%7 = param 2 {0} : f32[2]
%8 = ramp 0 {2} : index[2]
%9 = index %7, %8 : f32[2]
%10 = store %9, %6
%11 = sink %10
)",
    R"(%0 = param 32 {1} : f32[32]
%1 = prefetch %0 {64} : f32[32]
%2 = index %1, 4 : f32
%3 = load %2 : f32
%4 = param 2 {0} : f32[2]
%5 = index %4, 1 : f32
%6 = store %5, %3
%7 = sink %6
)",
    R"(%0 = param 32 {1} : f32[32]
%1 = special 32 {"lidx0", 0, 31} : index
%2 = index %0, %1 : f32
%3 = load %2 : f32
%4 = stack %3, 1.0:f32 : f32[2]
%5 = wmma %4, %4, %4 {"m8n8k8-f32-f32"} : f32[2]
%6 = lane %5 {1} : f32
%7 = param 32 {0} : f32[32]
%8 = index %7, %1 : f32
%9 = store %8, %6
%10 = sink %9
)",
    R"(%0 = buffer 64 {1, local, swizzle 128, ring 4} : f16[64]
%1 = param 64 {0} : f16[64]
%2 = index %0, 8 : f16
%3 = index %1, 0 : f16
%4 = gpu %2, %3, true {"cp_async16"}
%5 = gpu %4 {"cp_commit"}
%6 = after %0, %5 : f16[64]
%7 = index %6, 8 : f16
%8 = gpu %7 {"ldmatrix_x4"} : u32[4]
%9 = lane %8 {2} : u32
%10 = param 1 {1} : u32[1]
%11 = index %10, 0 : u32
%12 = store %11, %9
%13 = sink %12
)",
    R"(%0 = param 64 {0} : f32[64]
%1 = range 8 {2, spread} : index
%2 = index %0, %1 : f32
%3 = store %2, 1.0:f32
%4 = end %3, %1
%5 = sink %4
)",
    R"(%0 = param 64 {0} : f32[64]
%1 = range 8 {2, warp} : index
%2 = range 2 {3, core} : index
%3 = mul %1, 2 : index
%4 = add %3, %2 : index
%5 = index %0, %4 : f32
%6 = store %5, 1.0:f32
%7 = end %6, %1, %2
%8 = sink %7
)",
    R"(%0 = param 256 {0} : f32[256]
%1 = ramp 0 {256} : index[256]
%2 = index %0, %1 : f32[256]
%3 = param 512 {1} : bf16[512]
%4 = rows 0, 32, 32 {512} : index[512]
%5 = index %3, %4 : bf16[512]
%6 = load %5 : bf16[512]
%7 = load %2 : f32[256]
%8 = tiledot %6, %6, %7 {"amx-bf16-f32"} : f32[256]
%9 = store %2, %8
%10 = sink %9
)"};

}  // namespace

TEST_CASE("texts of every stage round-trip") {
  for (const char* text : kTexts) checkRoundTrip(text);
}

TEST_CASE("text in printed order is reproduced exactly") {
  Graph graph;
  CHECK(toUopText(parseUop(graph, kTexts[1]).value()) == kTexts[1]);
}

TEST_CASE("the sample texts and elementwise ops together use every op") {
  std::string all;
  for (const char* text : kTexts) all += text;
  for (Op op : allOps()) {
    if (isElementwise(op) || op == Op::Const) continue;
    INFO(toText(op));
    CHECK(all.find("= " + std::string(toText(op))) != std::string::npos);
  }
  for (Op op : allOps()) {
    if (!isElementwise(op)) continue;
    Graph graph;
    std::vector<UOp> src;
    for (int i = 0; i < info(op).minSrc; ++i)
      src.push_back(graph.buffer(DType::F32, std::vector<UOp>{graph.index(3)}, {static_cast<uint32_t>(i)}));
    checkRoundTrip(toUopText(graph.make(op, DType::I32, src)));
  }
}

TEST_CASE("literals of every dtype round-trip") {
  for (DType d : allDTypes()) {
    if (d == DType::Void) continue;
    std::vector<Scalar> values = {Scalar::of(d, 0), Scalar::of(d, 1)};
    if (isInt(d)) {
      values.push_back(Scalar::ofInt(d, minInt(d)));
      values.push_back(Scalar::ofInt(d, -1));
    }
    if (isFloat(d))
      for (double x : {-0.0, 0.1, -1e30, 3e-39, 1.0 / 3, HUGE_VAL, -HUGE_VAL, std::nan("")})
        values.push_back(Scalar::ofFloat(d, x));
    for (const Scalar& value : values) {
      Graph graph;
      UOp root = graph.make(Op::Sink, DType::Void, {graph.constant(value)});
      std::string text = toUopText(root);
      INFO(text);
      Result<UOp> parsed = parseUop(graph, text);
      REQUIRE(parsed.has_value());
      CHECK(*parsed == root);
      checkRoundTrip("%0 = const " + text.substr(text.find("sink ") + 5));
    }
  }
}

TEST_CASE("floats print with the fewest digits of their own dtype") {
  CHECK(toText(Scalar::ofFloat(DType::F32, 0.1)) == "0.1");
  CHECK(toText(Scalar::ofFloat(DType::F16, 0.1)) == "0.1");
  CHECK(toText(Scalar::ofFloat(DType::F64, 0.1)) == "0.1");
  CHECK(toText(Scalar::ofFloat(DType::F64, static_cast<float>(0.1))) == "0.10000000149011612");
  CHECK(toText(Scalar::ofFloat(DType::BF16, 3.0)) == "3.0");
}

TEST_CASE("every float of 16 bits and less round-trips as text") {
  for (DType d : allDTypes()) {
    if (!isFloat(d) || info(d).bits > 16) continue;
    int wrong = 0;
    for (uint32_t bits = 0; bits < (1u << info(d).bits); ++bits) {
      Scalar value = Scalar::fromBits(d, bits);
      double parsed = std::strtod(toText(value).c_str(), nullptr);
      wrong += !(Scalar::ofFloat(d, parsed) == value);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("comments, blank lines, spaces and carriage returns are ignored") {
  Graph graph;
  Result<UOp> root = parseUop(graph, "; a comment\n\n  %0=var{\"n\",0,7}:index ; n\r\n\t%1 = add %0 , 3 : index\r\n");
  REQUIRE(root.has_value());
  CHECK(toUopText(*root) == "%0 = var {\"n\", 0, 7} : index\n%1 = add %0, 3 : index\n");
}

TEST_CASE("names keep every byte") {
  Graph graph;
  std::string name = "a\"b\\c;d\n\xc3\xa9 e";
  UOp v = graph.variable(name, 0, 3);
  checkRoundTrip(toUopText(graph.make(Op::Sink, DType::Void, {v})));
}

TEST_CASE("equal graphs built in another order print the same text") {
  Graph a, b;
  UOp x = a.variable("x", 0, 9), sumA = a.alu(Op::Add, {x, a.index(1)}), mulA = a.alu(Op::Mul, {x, a.index(2)});
  UOp y = b.variable("x", 0, 9), mulB = b.alu(Op::Mul, {y, b.index(2)}), sumB = b.alu(Op::Add, {y, b.index(1)});
  CHECK(toUopText(a.alu(Op::Max, {sumA, mulA})) == toUopText(b.alu(Op::Max, {sumB, mulB})));
}

TEST_CASE("expressions print as infix with only the parentheses they need") {
  Graph g;
  UOp n = g.variable("n", 0, 100);
  UOp r0 = g.range(g.index(8), 0, AxisType::Loop), r1 = g.range(g.index(8), 1, AxisType::Reduce);
  UOp flat = g.alu(Op::Add, {g.alu(Op::Mul, {r0, g.index(64)}), r1});
  CHECK(toExpr(flat) == "r0*64 + r1");
  CHECK(toExpr(g.alu(Op::Mul, {flat, g.index(2)})) == "(r0*64 + r1)*2");
  CHECK(toExpr(g.alu(Op::Sub, {r0, g.alu(Op::Sub, {r1, n})})) == "r0 - (r1 - n)");
  CHECK(toExpr(g.alu(Op::Floormod, {g.alu(Op::Floordiv, {flat, g.index(4)}), n})) == "(r0*64 + r1)//4%n");
  UOp gate = g.alu(Op::And, {g.alu(Op::Lt, {flat, n}), g.alu(Op::Not, {g.alu(Op::Eq, {r0, r1})})});
  CHECK(toExpr(gate) == "r0*64 + r1 < n & !(r0 == r1)");
  CHECK(toExpr(g.where(gate, r0, g.alu(Op::Neg, {r1}))) == "r0*64 + r1 < n & !(r0 == r1) ? r0 : -r1");
  CHECK(toExpr(g.cast(g.alu(Op::Max, {r0, n}), DType::I32)) == "i32(max(r0, n))");
  UOp deep = n;
  for (int i = 0; i < 100; ++i) deep = g.alu(Op::Mul, {deep, deep});
  CHECK(toExpr(deep, 40).size() == 43);
}
