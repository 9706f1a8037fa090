// dot: products of small numbers in the groups that instructions sum up.
#include <catch2/catch.hpp>
#include <cmath>

#include "lower/legalize.h"
#include "opts/opt_checks.h"

using namespace svod;

namespace {

Caps fast() {
  Caps caps;
  caps.numerics = Numerics::Fast, caps.bf16Dots = true;
  return caps;
}

}  // namespace

TEST_CASE("Groups of bytes are summed as dot products, whatever their signs and zero points") {
  Graph g;
  for (bool mixed : {false, true})
    for (bool like : {false, true})
      for (DType a : {DType::I8, DType::U8})
        for (bool zeros : {false, true}) {
          Caps caps;
          caps.mixedDots = mixed, caps.likeDots = like;
          UOp sink = buildByteMatmul(g, {7, 33, 13}, {a, DType::I8, zeros, zeros});
          CHECK(describeAxes(applied(g, sink, "dot(2,4)", caps)).starts_with("0 loop 7, 1 loop 33, 2 reduce 4"));
          UOp tuned = applied(g, sink, "dot(2,4) tile(1,16) order(1,0) upcast(1,3) vector(2,16)", caps);
          CHECK(verifyText(tuned) == "");
          UOp code = lowered(g, tuned);
          CHECK(countOp(code, Op::Dot) >= 3);
          CHECK(sameBuffers(resultOf(sink), resultOf(code), 0));
        }
  UOp plain = buildByteMatmul(g, {8, 32, 16}, {});
  Caps caps;
  caps.mixedDots = true;
  UOp packed = applied(
      g, plain, "dot(2,4) tile(1,16) order(1,0) pack(2,3,2) vector(5,16) upcast(6,0) upcast(1,3) vector(2,16)", caps);
  CHECK(countOp(packed, Op::Fill) == 1);
  CHECK(sameBuffers(resultOf(plain), resultOf(lowered(g, packed)), 0));
  CHECK(errorOf(g, plain, "dot(2,3)").find("groups of 4") != std::string::npos);
  CHECK(errorOf(g, plain, "dot(0,4)").find("is an output axis") != std::string::npos);
  CHECK(errorOf(g, plain, "vector(2,4) dot(2,4)").find("does not sum products of bytes") != std::string::npos);
  CHECK(errorOf(g, plain, "dot(2,4)", gpuCaps()).find("workgroups") != std::string::npos);
  CHECK(errorOf(g, buildMatmul(g, {8, 32, 16}), "dot(2,4)").find("does not sum products of bytes") !=
        std::string::npos);
}

TEST_CASE("A copy of what windows read holds groups of channels side by side") {
  Graph g;
  Caps caps;
  caps.mixedDots = true;
  for (auto* build : {buildByteConv2d, buildByteConv2dStep2}) {
    UOp sink = build(g, {16, 9, 5});
    UOp copied = applied(g, sink, "dot(k0,4) window(1,k0,k1,k2,n1,n2)", caps);
    CHECK(countOp(copied, Op::Fill) == 1);
    UOp tuned = applied(g, sink,
                        "dot(k0,4) window(1,k0,k1,k2,n1,n2) vector(p1.k2,4) upcast(p1.k0.d,0) vector(n0,16) "
                        "upcast(n2,3) unroll(k2,3)",
                        caps);
    CHECK(verifyText(tuned) == "");
    UOp code = lowered(g, tuned);
    CHECK(countOp(code, Op::Dot) >= 3);
    CHECK(countOp(code, Op::Xor) <= 4);  // bytes of the other sign are copied as such
    CHECK(sameBuffers(resultOf(sink), resultOf(code), 0));
  }
}

TEST_CASE("Pairs of bf16 are summed as dot products") {
  Graph g;
  for (bool rows : {false, true})
    for (const Sizes& s : {Sizes{7, 33, 16}, Sizes{7, 33, 13}, Sizes{3, 17, 3}}) {
      UOp sink = buildBf16Matmul(g, s, rows);
      for (const char* text :
           {"dot(2,2)", "dot(2,2) tile(1,16) order(1,0) upcast(1,3) vector(2,16)", "dot(2,2) vector(2,2) upcast(0,2)",
            "dot(2,2) tile(1,16) order(1,0) pack(2,3,2) vector(5,8) upcast(6,0) upcast(1,3) vector(2,16)"}) {
        if (s.k % 4 != 0 && std::string_view(text).find("vector(2,2)") != std::string_view::npos)
          continue;  // masks a group
        UOp code = lowered(g, applied(g, sink, text, fast()));
        INFO(text);
        CHECK(countOp(code, Op::Dot) >= 1);
        CHECK(sameBuffers(resultOf(sink), resultOf(code), kClose));
        for (bool native : {false, true}) {
          LegalizeOptions options;
          options.numerics = Numerics::Fast, options.nativeBf16 = native;
          UOp legal = legalize(g, code, options);
          CHECK(verify(legal, Stage::Linear));
          for (UOp n : toposort(legal))
            if (n.op() == Op::Dot) CHECK(n.src(0).dtype() == (native ? DType::BF16 : DType::F32));
        }
      }
    }
  UOp product = buildBf16Matmul(g, {8, 32, 16}, false);
  Caps strict;
  strict.numerics = Numerics::Strict;
  CHECK(describeAxes(applied(g, product, "dot(2,2)", fast())) == "0 loop 8, 1 loop 32, 2 reduce 8");
  CHECK(errorOf(g, product, "dot(2,4)", fast()).find("dot products of bf16 take groups of 2") != std::string::npos);
  CHECK(errorOf(g, product, "dot(2,2)", strict).find("--numerics contract") != std::string::npos);
  CHECK(errorOf(g, product, "vector(2,4) dot(2,2)", fast()).find("does not sum products") != std::string::npos);
  CHECK(errorOf(g, buildMatmul(g, {8, 32, 16}), "dot(2,2)", fast()).find("does not sum products") != std::string::npos);
}

TEST_CASE("A group that repeats elements counts none of them twice, infinite ones included") {
  Graph g;
  UOp sink = buildBf16Matmul(g, {2, 4, 5}, false);
  auto result = [&](UOp kernel) {
    Buffers buffers = makeBuffers(sink);
    for (int64_t at : {3, 4}) buffers[1].set(at, Scalar::ofFloat(DType::BF16, INFINITY));  // row 0, its last two terms
    for (int64_t i = 0; i < buffers[2].numel(); ++i) buffers[2].set(i, Scalar::ofFloat(DType::BF16, 2));
    REQUIRE(interpretKernel(kernel, buffers, {}));
    return buffers;
  };
  Buffers expected = result(sink);
  CHECK(std::isinf(expected[0].at(0).asFloat()));
  for (const char* text : {"dot(2,2)", "dot(2,2) pack(2,2,1)", "dot(2,2) vector(1,4)"})
    CHECK(sameBuffers(expected, result(lowered(g, applied(g, sink, text, fast()))), 0));
}
