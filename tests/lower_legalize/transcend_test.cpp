// Error bounds of docs/numerics.md, by sampling every exponent; the reference is the C library in higher precision.
#include <catch2/catch.hpp>
#include <random>

#include "lower/bound_exponents.h"
#include "tape.h"

using namespace svod;

namespace {

struct Bound {
  Op op;
  DType dtype;
  double ulp, ulpNoFma;
};
constexpr Bound kBounds[] = {
    {Op::Exp, DType::F32, 1.1, 1.1},  {Op::Exp, DType::F64, 1.1, 1.1},  {Op::Exp2, DType::F32, 1.1, 1.1},
    {Op::Exp2, DType::F64, 1.1, 1.1}, {Op::Log, DType::F32, 1.1, 1.1},  {Op::Log, DType::F64, 1.1, 1.1},
    {Op::Log2, DType::F32, 1.3, 1.8}, {Op::Log2, DType::F64, 1.1, 1.1}, {Op::Sin, DType::F32, 1.0, 1.0},
    {Op::Sin, DType::F64, 1.0, 1.0},  {Op::Cos, DType::F32, 1.0, 1.0},  {Op::Cos, DType::F64, 1.0, 1.0},
    {Op::Tan, DType::F32, 1.2, 2.5},  {Op::Tan, DType::F64, 1.2, 2.5},  {Op::Tanh, DType::F32, 1.5, 1.5},
    {Op::Tanh, DType::F64, 1.5, 1.5}, {Op::Erf, DType::F32, 4.5, 5.5},  {Op::Erf, DType::F64, 1.5, 1.5},
};

long double reference(Op op, long double x) {
  switch (op) {
    case Op::Exp: return std::exp(x);
    case Op::Exp2: return std::exp2(x);
    case Op::Log: return std::log(x);
    case Op::Log2: return std::log2(x);
    case Op::Sin: return std::sin(x);
    case Op::Cos: return std::cos(x);
    case Op::Tan: return std::tan(x);
    case Op::Tanh: return std::tanh(x);
    case Op::Erf: return std::erf(x);
    default: return 0;
  }
}

long double ulpError(DType d, double got, long double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e30L;
  double nearest = Scalar::ofFloat(d, static_cast<double>(exact)).asFloat();
  if (std::isinf(nearest) || std::isnan(got) || std::isinf(got)) return got == nearest ? 0 : 1e30L;
  if (exact == 0) return got == 0 && std::signbit(got) == std::signbit(exact) ? 0 : 1e30L;
  int fraction = info(d).fractionBits, least = d == DType::F32 ? -126 : -1022;
  int exponent = std::max(std::ilogb(exact), least);
  return std::abs(got - exact) / std::ldexp(1.0L, exponent - fraction);
}

std::vector<double> samples(DType d, int perExponent) {
  std::vector<double> all = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0.5, -0.5};
  std::mt19937_64 random(7);
  int fraction = info(d).fractionBits, exponents = d == DType::F32 ? 255 : 2047;
  for (uint64_t exponent = 0; exponent < static_cast<uint64_t>(exponents); ++exponent)
    for (int i = 0; i < perExponent; ++i) {
      uint64_t mantissa = random() & ((uint64_t{1} << fraction) - 1);
      if (i < 2) mantissa = i == 0 ? 0 : (uint64_t{1} << fraction) - 1;
      double x = Scalar::fromBits(d, exponent << fraction | mantissa).asFloat();
      all.push_back(x);
      all.push_back(-x);
    }
  for (int k = 1; k < 200; ++k) all.push_back(Scalar::ofFloat(d, k * 1.5707963267948966).asFloat());
  std::uniform_real_distribution<double> near(-30, 30), around(0.4, 2.5);
  for (int i = 0; i < 40 * perExponent; ++i) {
    all.push_back(Scalar::ofFloat(d, near(random)).asFloat());
    all.push_back(Scalar::ofFloat(d, around(random)).asFloat());
  }
  return all;
}

}  // namespace

TEST_CASE("transcendental functions stay within their documented error") {
  for (const Bound& bound : kBounds)
    for (int variant = 0; variant < 4; ++variant) {
      const bool fma = variant > 0;
      Graph g;
      // The last one: by approximate instructions of a GPU, as if these were rounded to nearest.
      Emitter e(g, {.fma = fma, .nativeScaleb = variant == 2, .gpuGeneration = variant > 2 ? 90 : 0});
      UOp x = leaf(g, bound.dtype, 0);
      Tape tape(e.make(bound.op, bound.dtype, {x}), {x});
      long double worst = 0;
      double where = 0;
      for (double v : samples(bound.dtype, bound.dtype == DType::F32 ? 60 : 12)) {
        double got = tape({Scalar::ofFloat(bound.dtype, v)}).asFloat();
        long double error = ulpError(bound.dtype, got, reference(bound.op, v));
        if (error > worst) worst = error, where = v;
      }
      CAPTURE(toText(bound.op), toText(bound.dtype), fma, static_cast<double>(worst), where, tape.nodes().size());
      if (std::getenv("SVOD_SHOW_ULP"))
        WARN(toText(bound.op) << " " << toText(bound.dtype) << (fma ? " fma " : " no fma ")
                              << static_cast<double>(worst) << " at " << where << ", " << tape.nodes().size()
                              << " ops");
      CHECK(worst <= (fma ? bound.ulp : bound.ulpNoFma));
    }
}

TEST_CASE("the power of an exponent that is not above 0 is 0 or a normal number, whatever the exponent is cut from") {
  for (DType d : {DType::F32, DType::F64})
    for (int variant = 0; variant < 3; ++variant) {
      Graph g;
      Emitter e(g, {.fma = variant > 0, .nativeScaleb = variant == 2});
      UOp x = leaf(g, d, 0);
      Tape tape(e.make(Op::Exp, d, {boundedExponent(g, x, Numerics::Contract)}), {x});
      for (double v : samples(d, 12)) {
        const double got = tape({Scalar::ofFloat(d, v)}).asFloat();
        long double exact = std::exp(static_cast<long double>(std::isnan(v) ? v : std::min(v, 0.0)));
        if (exact < std::ldexp(1.0L, d == DType::F32 ? -126 : -1022)) exact = 0;
        CAPTURE(toText(d), variant, v, got);
        if (ulpError(d, got, exact) > 1.1L) FAIL(static_cast<double>(exact));
      }
    }
}

TEST_CASE("fast sine, cosine and tangent hold for moderate arguments") {
  for (DType d : {DType::F32, DType::F64})
    for (Op op : {Op::Sin, Op::Cos, Op::Tan}) {
      Graph g;
      Emitter e(g, {.numerics = Numerics::Fast});
      UOp x = leaf(g, d, 0);
      Tape tape(e.make(op, d, {x}), {x});
      std::mt19937_64 random(13);
      std::uniform_real_distribution<double> argument(-12000, 12000);
      for (int i = 0; i < 5000; ++i) {
        double v = Scalar::ofFloat(d, i % 2 == 0 ? argument(random) : argument(random) / 1000).asFloat();
        long double error = ulpError(d, tape({Scalar::ofFloat(d, v)}).asFloat(), reference(op, v));
        CAPTURE(toText(op), toText(d), v);
        if (error > 2.5) FAIL(static_cast<double>(error));
      }
    }
}

TEST_CASE("pow stays within its documented error and has the special cases of C") {
  for (DType d : {DType::F32, DType::F64})
    for (bool fma : {true, false}) {
      Graph g;
      Emitter e(g, {.fma = fma});
      UOp x = leaf(g, d, 0), y = leaf(g, d, 1);
      Tape tape(e.make(Op::Pow, d, {x, y}), {x, y});
      std::vector<std::pair<double, double>> pairs;
      for (double a :
           {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, double(INFINITY), -double(INFINITY), double(NAN), 1e30, -7.0})
        for (double b : {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1e30, -1e30, 4503599627370497.0,
                         double(INFINITY), -double(INFINITY), double(NAN)})
          pairs.push_back({a, b});
      std::mt19937_64 random(9);
      std::uniform_real_distribution<double> result(-1100, 1100), near(0.9, 1.1), exponent(-60, 60);
      for (int i = 0; i < 20000; ++i) {
        double a = i % 3 == 0 ? near(random) : std::exp2(exponent(random));
        double b = result(random) / (d == DType::F32 ? 8 : 1) / std::log2(a);
        pairs.push_back({a, b});
        pairs.push_back({i % 2 == 0 ? -a : a, std::trunc(b)});
      }
      long double worst = 0;
      double whereX = 0, whereY = 0;
      for (auto [a, b] : pairs) {
        a = Scalar::ofFloat(d, a).asFloat();
        b = Scalar::ofFloat(d, b).asFloat();
        double got = tape({Scalar::ofFloat(d, a), Scalar::ofFloat(d, b)}).asFloat();
        long double error = ulpError(d, got, std::pow(static_cast<long double>(a), static_cast<long double>(b)));
        if (error > worst) worst = error, whereX = a, whereY = b;
      }
      CAPTURE(toText(d), fma, static_cast<double>(worst), whereX, whereY);
      if (std::getenv("SVOD_SHOW_ULP"))
        WARN("pow " << toText(d) << (fma ? " fma " : " no fma ") << static_cast<double>(worst) << " at " << whereX
                    << ", " << whereY << ", " << tape.nodes().size() << " ops");
      CHECK(worst <= (fma ? 1.0 : 1.5));
    }
}

TEST_CASE("erf of f32 reaches 1 and does not pass it") {
  for (bool fma : {true, false}) {
    Graph g;
    Emitter e(g, {.fma = fma});
    UOp x = leaf(g, DType::F32, 0);
    Tape tape(e.make(Op::Erf, DType::F32, {x}), {x});
    double most = 0;
    for (float v = 3.5f; v < 3.9f; v = std::nextafter(std::nextafter(v, 4.0f), 4.0f) + 0x1p-19f)
      most = std::max(most, tape({Scalar::ofFloat(DType::F32, v)}).asFloat());
    CHECK(most == 1);
    for (double v : {3.92, 5.0, 1e6, 1e20, 3e38, double(INFINITY)}) {
      CHECK(tape({Scalar::ofFloat(DType::F32, v)}).asFloat() == 1);
      CHECK(tape({Scalar::ofFloat(DType::F32, -v)}).asFloat() == -1);
    }
  }
}
