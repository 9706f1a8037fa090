// tc on a processor: sums in groups, computed in tiles by one instruction of a tile unit.
#include <catch2/catch.hpp>
#include <random>

#include "e2e/seeds.h"
#include "ir/text.h"
#include "ir/tile_unit.h"
#include "lower/legalize.h"
#include "opts/opt_checks.h"
#include "opts/propose.h"

using namespace svod;

namespace {

Caps withTiles(Numerics numerics = Numerics::Contract) {
  Caps caps;
  caps.numerics = numerics, caps.bf16Dots = numerics != Numerics::Strict;
  caps.mixedDots = caps.likeDots = true;
  caps.vectorBytes = 64, caps.vectorRegisters = 32;
  for (const TileUnit& unit : allTileUnits()) caps.tiles.push_back(&unit);
  return caps;
}

// What a list makes of a product has tile products and its value.
void requireTiles(Graph& g, UOp sink, const std::string& text, int products) {
  INFO(text);
  const UOp tuned = applied(g, sink, text.c_str(), withTiles());
  CHECK(verifyText(tuned) == "");
  const Buffers expected = resultOf(sink);
  CHECK(sameBuffers(expected, resultOf(tuned), kClose));
  const UOp code = lowered(g, tuned);
  CHECK(countOp(code, Op::TileDot) == products);
  CHECK(countOp(code, Op::Dot) == 0);
  CHECK(sameBuffers(expected, resultOf(code), kClose));
  LegalizeOptions options;
  options.numerics = Numerics::Contract, options.nativeBf16 = true;
  const UOp legal = legalize(g, code, options);
  CHECK(verify(legal, Stage::Linear));
  CHECK(countOp(legal, Op::TileDot) == products);
}

}  // namespace

TEST_CASE("A product of bf16 is computed in tiles, the last of which start earlier") {
  Graph g;
  const std::string packed = "dot(2,2) tile(1,32) order(1,0) pack(2,3,2) vector(5,8) upcast(6,0) tc(0,1,2,3)";
  for (const Sizes& s : {Sizes{16, 64, 32}, Sizes{33, 64, 64}, Sizes{47, 48, 128}}) {
    const UOp sink = buildBf16Matmul(g, s, false);
    requireTiles(g, sink, packed, 1);
    requireTiles(g, sink, packed + " upcast(2,2)", 2);
    if (s.m > 16) requireTiles(g, sink, packed + " upcast(1,2) upcast(2,2)", 4);
    if (s.k > 32) requireTiles(g, sink, packed + " unroll(3,2)", 2);
  }
}

TEST_CASE("A convolution of bytes is computed in tiles, along its lines and across them") {
  Graph g;
  Caps caps = withTiles();
  caps.constants = {2};
  const std::string copied = "dot(k0,4) window(1,k0,k1,k2,n1,n2) ", copy = "vector(p1.k2,2) upcast(p1.k0.d,0) ";
  for (const auto& [sizes, list] : {std::pair{Sizes{32, 20, 2}, copied + copy + "tc(1,n0,n2,k0) upcast(n0.o,2)"},
                                    {Sizes{16, 33, 2}, copied + copy + "tc(1,n0,n2,k0) upcast(n2.o,2)"},
                                    {Sizes{16, 7, 5}, copied + "pitch(n1,n2,9) " + copy + "tc(1,n0,n1+n2,k0)"}}) {
    INFO(list);
    const UOp sink = buildDeepByteConv2d(g, sizes);
    const UOp tuned = applied(g, sink, list.c_str(), caps);
    CHECK(verifyText(tuned) == "");
    CHECK(sameBuffers(resultOf(sink), resultOf(tuned), 0));
  }
}

TEST_CASE("A product of bytes of any signs is computed in tiles") {
  Graph g;
  for (DType a : {DType::I8, DType::U8})
    for (DType b : {DType::I8, DType::U8}) {
      const UOp sink = buildByteMatmul(g, {20, 64, 128}, {a, b});
      requireTiles(g, sink, "dot(2,4) tile(1,32) order(1,0) pack(2,3,2) vector(5,16) upcast(6,0) tc(1,1,2,3)", 1);
    }
}

TEST_CASE("A step of a sum has as many groups as divide it, from 4 to 16") {
  Graph g;
  const auto groupsOfRows = [&](UOp sink, const std::string& list) {
    const UOp code = lowered(g, applied(g, sink, list.c_str(), withTiles()));
    const std::vector<UOp> nodes = toposort(code);
    return std::ranges::find(nodes, Op::TileDot, &UOp::op)->src(0).dim(0) / 16;
  };
  const std::string packed = " tile(1,32) order(1,0) pack(2,3,2) vector(5,16) upcast(6,0) ";
  for (const auto& [terms, ofStep] : {std::pair{112, 56}, {160, 40}, {20, 20}, {128, 64}}) {
    const UOp sink = buildByteMatmul(g, {20, 64, terms}, {DType::U8, DType::I8});
    requireTiles(g, sink, "dot(2,4)" + packed + "tc(1,1,2,3)", 1);
    requireTiles(g, sink, "dot(2,4)" + packed + "tc(1,1,2,3) upcast(2,2)", 2);
    CHECK(groupsOfRows(sink, "dot(2,4)" + packed + "tc(1,1,2,3)") == ofStep);
  }
  requireTiles(g, buildBf16Matmul(g, {33, 64, 44}, false),
               "dot(2,2) tile(1,32) order(1,0) pack(2,3,2) vector(5,8) upcast(6,0) tc(0,1,2,3)", 1);
}

TEST_CASE("A tile unit is refused where it would not find its factors, with what to do") {
  Graph g;
  const UOp sink = buildBf16Matmul(g, {32, 32, 64}, false);
  const auto errorFor = [&](const std::string& text, const Caps& caps) { return errorOf(g, sink, text.c_str(), caps); };
  CHECK_THAT(errorFor("tc(0,0,1,2)", withTiles()), Catch::Contains("put dot(k,2) before tc"));
  CHECK_THAT(errorFor("dot(2,2) tc(0,0,1,2)", withTiles()), Catch::Contains("pack B along k and n"));
  CHECK_THAT(errorFor("dot(2,2) tc(2,0,1,2)", withTiles()),
             Catch::Contains("tile units: 0 amx-bf16-f32, 1 amx-i8-i32"));
  CHECK_THAT(errorFor("dot(2,2) pack(2,2,1) tc(1,0,1,2)", withTiles()),
             Catch::Contains("amx-i8-i32 does not multiply bf16 in f32"));
  CHECK_THAT(errorFor("dot(2,2) pack(2,2,1) tc(0,0,1,2) upcast(0,2) upcast(1,2) unroll(2,2)", withTiles()),
             Catch::Contains("more than the 8 registers"));
  CHECK_THAT(errorFor("dot(2,2) tc(0,0,1,2)", Caps{}), Catch::Contains("neither tensor cores nor tile units"));
  const UOp few = buildBf16Matmul(g, {15, 32, 64}, false), odd = buildBf16Matmul(g, {32, 32, 34}, false);
  CHECK_THAT(errorOf(g, few, "dot(2,2) pack(2,2,1) tc(0,0,1,2)", withTiles()), Catch::Contains("no 16 iterations"));
  CHECK_THAT(errorOf(g, odd, "dot(2,2) pack(2,2,1) tc(0,0,1,2)", withTiles()),
             Catch::Contains("a number from 4 to 16 has to divide"));
}

TEST_CASE("Rows of matrices and their products have text that is read back") {
  Graph g;
  const UOp sink = buildBf16Matmul(g, {16, 16, 32}, false);
  const UOp code = lowered(g, applied(g, sink, "dot(2,2) pack(2,2,1) tc(0,0,1,2)", withTiles()));
  const std::string text = toUopText(code);
  CHECK_THAT(text, Catch::Contains("rows ") && Catch::Contains("tiledot "));
  Graph other;
  const Result<UOp> again = parseUop(other, text);
  REQUIRE(again);
  CHECK(toUopText(*again) == text);
}

TEST_CASE("What random opts make of tiles has the same value") {
  const Caps caps = withTiles();
  const auto first = static_cast<uint32_t>(numberFromEnvironment("SVOD_RANDOM_FIRST", 0));
  const auto count = static_cast<uint32_t>(numberFromEnvironment("SVOD_RANDOM_COUNT", 40));
  int tiled = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](int64_t most) { return static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
    Graph g;
    const bool ofBytes = draw(2) == 1;
    const Sizes sizes{16 + draw(32), 32 + 16 * draw(3), (ofBytes ? 4 : 2) * (4 + draw(29))};
    const UOp sink = ofBytes ? buildByteMatmul(g, sizes, {draw(2) ? DType::I8 : DType::U8, DType::I8})
                             : buildBf16Matmul(g, sizes, false);
    const std::string group = ofBytes ? "dot(k0,4)" : "dot(k0,2)", unit = ofBytes ? "1" : "0";
    NamedKernel kernel(sink);
    std::string list;
    const auto apply = [&](const OptOp& opt) {
      Result<AppliedOpt> changed = tryOpt(g, kernel, opt, caps);
      if (!changed) {
        CHECK(changed.error()->diag == Diag::BadOpt);
        return;
      }
      kernel = std::move(changed->kernel), list += toText(changed->opt) + " ";
    };
    const std::string start = group + (draw(2) ? " pack(2,k0,n1)" : " tile(n1,32) order(n1.o,n0) pack(2,k0,n1.i)");
    const std::string columns = start.find("n1.i") == std::string::npos ? "n1" : "n1.i";
    const Result<std::vector<OptOp>> tiles = parseOpts(start + " tc(" + unit + ",n0," + columns + ",k0)");
    REQUIRE(tiles);
    for (const OptOp& opt : *tiles) apply(opt);
    for (int step = 0; step < 4; ++step) {
      const KernelFacts facts(kernel.sink);
      const OptInfo& row = allOpts()[random() % allOpts().size()];
      const std::vector<OptOp> moves = row.propose(facts, kernel.names, caps);
      if (!moves.empty()) apply(moves[random() % moves.size()]);
    }
    INFO("seed " << seed << " " << sizes.m << "x" << sizes.n << "x" << sizes.k << ": " << list);
    const UOp code = lowered(g, endOfOpts(g, kernel.sink, caps));
    tiled += countOp(code, Op::TileDot) > 0;
    CHECK(sameBuffers(resultOf(sink), resultOf(code), kClose));
  }
  CHECK(tiled > static_cast<int>(count) / 2);
}
