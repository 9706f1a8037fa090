// f16, bf16 and smaller floats by integer arithmetic: every bit pattern, every rounding boundary.
#include <catch2/catch.hpp>
#include <random>

#include "lower/legalize.h"
#include "lower/legalize_float.h"
#include "tape.h"

using namespace svod;

namespace {

const DType kFormats[] = {DType::F16,        DType::BF16,       DType::F8E4M3, DType::F8E5M2,
                          DType::F8E4M3FNUZ, DType::F8E5M2FNUZ, DType::F8E8M0, DType::F4E2M1};

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

struct Encoder {
  explicit Encoder(DType from, DType format) : e(g, {}), x(leaf(g, from, 0)), from(from) {
    encode.emplace(detail::encodeFloat({&e, x}, format).node, std::vector{x});
    if (from == DType::F32) round.emplace(detail::roundFloat({&e, x}, format).node, std::vector{x});
  }
  Graph g;
  Emitter e;
  UOp x;
  DType from;
  std::optional<Tape> encode, round;
};

void checkEncode(Encoder& encoder, DType format, double v) {
  Scalar x = Scalar::ofFloat(encoder.from, v), expected = Scalar::ofFloat(format, x.asFloat());
  uint64_t got = (*encoder.encode)({x}).storageBits();
  if (got == expected.storageBits() && !encoder.round) return;
  CAPTURE(toText(format), toText(x), toText(expected));
  REQUIRE(got == expected.storageBits());
  if (!encoder.round) return;
  double rounded = (*encoder.round)({x}).asFloat();
  REQUIRE(same(rounded, expected.asFloat()));
}

}  // namespace

TEST_CASE("decoding is exact for every bit pattern") {
  for (DType format : kFormats) {
    Graph g;
    Emitter e(g, {});
    UOp bits = leaf(g, detail::memoryDType(format), 0);
    Tape decode(detail::decodeFloat({&e, bits}, format).node, {bits});
    for (uint64_t code = 0; code < uint64_t{1} << info(format).bits; ++code) {
      double expected = Scalar::fromBits(format, code).asFloat();
      double got = decode({Scalar::fromBits(detail::memoryDType(format), code)}).asFloat();
      if (same(got, expected)) continue;
      CAPTURE(toText(format), code, expected);
      FAIL("decoded " << got);
    }
  }
}

TEST_CASE("encoding rounds to nearest even, once") {
  for (DType format : kFormats)
    for (DType from : {DType::F32, DType::F64}) {
      Encoder encoder(from, format);
      std::mt19937_64 random(5);
      for (uint64_t code = 0; code < uint64_t{1} << (info(format).bits - 1); ++code) {
        if (info(format).bits == 16 && code % 7 != 0 && code > 3000) continue;
        double a = Scalar::fromBits(format, code).asFloat(), b = Scalar::fromBits(format, code + 1).asFloat();
        if (std::isnan(a) || std::isnan(b)) continue;
        if (std::isinf(b)) b = 2 * maxFinite(format);
        double middle = a / 2 + b / 2;
        double step = from == DType::F64 ? std::nextafter(middle, b) - middle
                                         : std::nextafterf(static_cast<float>(middle), static_cast<float>(b)) - middle;
        for (double v : {a, middle - step, middle, middle + step, a + (b - a) * 0.3, a + (b - a) * 0.8})
          checkEncode(encoder, format, v), checkEncode(encoder, format, -v);
      }
      for (double v : {0.0, double(INFINITY), double(NAN), 1e30, 3e38, 0x1p-149, 0x1p-140, 1e-45, 448.0, 464.0, 465.0,
                       57344.0, 61440.0, 65519.0, 65520.0})
        checkEncode(encoder, format, v), checkEncode(encoder, format, -v);
      if (from == DType::F64)
        for (double v : {1e300, 5e-324, 0x1p-150, 3.5e38})
          checkEncode(encoder, format, v), checkEncode(encoder, format, -v);
      for (int i = 0; i < 20000; ++i) {
        double v = Scalar::fromBits(from, random()).asFloat();
        checkEncode(encoder, format, v);
      }
    }
}

TEST_CASE("transcendental functions of every small float are within one unit of the rounded result") {
  for (DType format : kFormats) {
    if (!isComputedIn(format)) continue;
    for (Op op : {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Tan, Op::Tanh, Op::Erf}) {
      bool overflows = format == DType::F8E5M2 && (op == Op::Exp || op == Op::Exp2);
      Graph g;
      UOp x = leaf(g, format, 0);
      UOp target =
          g.make(Op::Index, format, {g.make(Op::Param, format, {g.index(16)}, SlotArg{1, Space::Global}), g.index(0)});
      UOp store = g.make(Op::Store, DType::Void, {target, g.make(op, format, {x})});
      UOp legal = legalize(g, store, {.numerics = Numerics::Strict});
      UOp bits;
      for (UOp n : toposort(legal))
        if (n.op() == Op::Load) bits = n;
      Tape tape(legal.src(1), {bits});
      int different = 0, wrong = 0, count = 1 << info(format).bits;
      for (int code = 0; code < count; code += format == DType::BF16 ? 5 : 1) {
        Scalar in = Scalar::fromBits(format, static_cast<uint64_t>(code)), expected = evalScalar(op, format, {&in, 1});
        if (overflows && in.asFloat() > 10) continue;  // f32 overflows to infinity where f64 saturates
        Scalar got = Scalar::fromBits(
            format, tape({Scalar::fromBits(detail::memoryDType(format), in.storageBits())}).storageBits());
        if (same(got.asFloat(), expected.asFloat())) continue;
        ++different;
        int64_t distance = static_cast<int64_t>(got.storageBits()) - static_cast<int64_t>(expected.storageBits());
        wrong += std::abs(distance) > 1;
      }
      CAPTURE(toText(format), toText(op), different);
      CHECK(wrong == 0);
      CHECK(different <= count / 2000);
    }
  }
}
