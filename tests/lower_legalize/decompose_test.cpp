// Every decomposition gives exactly what evalScalar says, reaches nothing undefined and leaves only emittable ops.
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "tape.h"
#include "target/emittable.h"

using namespace svod;

namespace {

std::vector<Scalar> interesting(DType d, std::mt19937_64& random, int count) {
  std::vector<Scalar> values;
  if (isFloat(d)) {
    for (double x : {0.0,
                     -0.0,
                     1.0,
                     -1.0,
                     0.5,
                     -0.5,
                     1.5,
                     2.5,
                     -2.5,
                     127.5,
                     128.0,
                     -128.5,
                     255.0,
                     256.0,
                     32767.5,
                     65535.9,
                     2147483647.0,
                     2147483648.0,
                     -2147483649.0,
                     4294967295.0,
                     4294967296.0,
                     9.2e18,
                     9.3e18,
                     -9.3e18,
                     1.8e19,
                     1.9e19,
                     8388607.5,
                     -8388608.5,
                     0x1p52,
                     0x1p53,
                     1e-40,
                     1e300,
                     double(INFINITY),
                     -double(INFINITY),
                     double(NAN)})
      values.push_back(Scalar::ofFloat(d, x));
    for (int i = 0; i < count; ++i) values.push_back(Scalar::fromBits(d, random()));
    return values;
  }
  for (int64_t x : {0, 1, -1, 2, -2, 3, 7, 8, 31, 32, 63, 64, 100}) values.push_back(Scalar::ofInt(d, x));
  values.push_back(Scalar::ofInt(d, minInt(d)));
  values.push_back(Scalar::ofInt(d, maxInt(d)));
  for (int i = 0; i < count; ++i) values.push_back(Scalar::ofInt(d, static_cast<int64_t>(random())));
  return values;
}

bool same(const Scalar& a, const Scalar& b) {
  if (!isFloat(a.dtype())) return a == b;
  return a == b || (std::isnan(a.asFloat()) && std::isnan(b.asFloat()));
}

bool emittable(UOp n) {
  for (const Emittable& row : emittableOps())
    if (row.op == n.op()) return (row.operands & operandKind(n.src(n.op() == Op::Where ? 1 : 0).dtype())) != 0;
  return false;
}

void checkBinary(Op op, DType d, const LegalizeOptions& options) {
  std::mt19937_64 random(1);
  Graph g;
  Emitter e(g, options);
  UOp a = leaf(g, d, 0), b = leaf(g, d, 1);
  DType result = has(op, Comparison) ? DType::Bool : d;
  Tape tape(e.make(op, result, {a, b}), {a, b});
  for (UOp n : tape.nodes()) {
    CAPTURE(toText(op), toText(d), toText(n.op()), toText(n.dtype()));
    CHECK(emittable(n));
  }
  for (const Scalar& x : interesting(d, random, 10))
    for (const Scalar& y : interesting(d, random, 10)) {
      Scalar operands[] = {x, y}, expected = evalScalar(op, result, operands), got = tape({x, y});
      bool zeros = isFloat(d) && (op == Op::Max || op == Op::Min) && x.asFloat() == 0 && y.asFloat() == 0;
      if (zeros || same(got, expected)) continue;
      CAPTURE(toText(op), toText(d), toText(x), toText(y), toText(got), toText(expected));
      FAIL("wrong value");
    }
}

void checkConstant(Op op, DType d) {  // constant second operand: shifts, masks, missing guards
  std::mt19937_64 random(2);
  for (const Scalar& y : interesting(d, random, 4)) {
    Graph g;
    Emitter e(g, {});
    UOp a = leaf(g, d, 0);
    DType result = has(op, Comparison) ? DType::Bool : d;
    Tape tape(e.make(op, result, {a, g.constant(y)}), {a});
    for (const Scalar& x : interesting(d, random, 10)) {
      Scalar operands[] = {x, y}, expected = evalScalar(op, result, operands), got = tape({x});
      bool zeros = isFloat(d) && (op == Op::Max || op == Op::Min) && x.asFloat() == 0 && y.asFloat() == 0;
      if (zeros || same(got, expected)) continue;
      CAPTURE(toText(op), toText(d), toText(x), toText(y), toText(got), toText(expected));
      FAIL("wrong value");
    }
  }
}

void checkUnary(Op op, DType d, DType result, const LegalizeOptions& options) {
  std::mt19937_64 random(3);
  Graph g;
  Emitter e(g, options);
  UOp a = leaf(g, d, 0);
  UOp node = e.make(op, result, {a});
  if (node == a) return;
  Tape tape(node, {a});
  for (UOp n : tape.nodes()) {
    CAPTURE(toText(op), toText(d), toText(result), toText(n.op()), toText(n.dtype()));
    CHECK(emittable(n));
  }
  for (const Scalar& x : interesting(d, random, 300)) {
    Scalar expected = evalScalar(op, result, {&x, 1}), got = tape({x});
    if (same(got, expected)) continue;
    CAPTURE(toText(op), toText(d), toText(result), toText(x), toText(got), toText(expected));
    FAIL("wrong value");
  }
}

const DType kInts[] = {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64};
const DType kFloats[] = {DType::F32, DType::F64};

}  // namespace

TEST_CASE("decomposition names are unique and described") {
  std::set<std::string_view> names;
  for (const Decomposition& row : decompositions()) {
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.what.empty());
  }
}

TEST_CASE("integer and bool decompositions are exact") {
  std::vector<DType> dtypes(std::begin(kInts), std::end(kInts));
  dtypes.push_back(DType::Bool);
  for (DType d : dtypes)
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Min, Op::Cdiv, Op::Cmod, Op::Floordiv, Op::Floormod, Op::Shl,
                  Op::Shr, Op::And, Op::Or, Op::Xor, Op::Lt, Op::Le, Op::Eq, Op::Ne}) {
      checkBinary(op, d, {});
      checkConstant(op, d);
    }
  for (DType d : dtypes)
    for (Op op : {Op::Neg, Op::Abs, Op::Not}) checkUnary(op, d, d, {});
  checkBinary(Op::Threefry, DType::U64, {});
}

TEST_CASE("float decompositions are exact") {
  for (DType d : kFloats) {
    for (Op op : {Op::Max, Op::Min}) checkBinary(op, d, {}), checkConstant(op, d);
    for (Op op : {Op::Trunc, Op::Floor, Op::Ceil, Op::Round, Op::Recip}) checkUnary(op, d, d, {.nativeRound = false});
  }
}

TEST_CASE("remainders of floats are exact") {
  for (DType d : kFloats)
    for (LegalizeOptions options :
         {LegalizeOptions(), LegalizeOptions{.fma = false}, LegalizeOptions{.fma = false, .nativeRound = false},
          LegalizeOptions{.nativeScaleb = true}}) {
      checkBinary(Op::Fmod, d, options);
      checkConstant(Op::Fmod, d);
      Graph g;
      Emitter e(g, options);
      UOp a = leaf(g, d, 0), b = leaf(g, d, 1);
      Tape tape(e.make(Op::Fmod, d, {a, b}), {a, b});
      std::mt19937_64 random(31);
      for (int i = 0; i < 20000; ++i) {  // all exponents, and neighbours of multiples of the divisor
        Scalar y = Scalar::fromBits(d, random()), x = Scalar::fromBits(d, random());
        if (i % 4 == 0) x = Scalar::ofFloat(d, y.asFloat() * static_cast<double>(random() % 100000));
        if (i % 4 == 1) x = Scalar::fromBits(d, x.storageBits() & ~(uint64_t{0x7ff} << (info(d).fractionBits + 1)));
        Scalar operands[] = {x, y}, expected = evalScalar(Op::Fmod, d, operands), got = tape({x, y});
        if (same(got, expected) &&
            (std::isnan(got.asFloat()) || std::signbit(got.asFloat()) == std::signbit(x.asFloat())))
          continue;
        CAPTURE(toText(d), toText(x), toText(y), toText(got), toText(expected), options.fma);
        FAIL("wrong value");
      }
    }
}

TEST_CASE("quotients by constants are exact where a product and a step that corrects make them") {
  std::mt19937_64 random(17);
  for (const double divisor : {3.0, -0.1, 0.03864107, 255.0, 1.9999999, 1e-30, 1e30, 0x1.fffffep+10, 7.5e-38}) {
    Graph g;
    Emitter e(g, {.correctsQuotients = true});
    UOp a = leaf(g, DType::F32, 0), b = g.constant(Scalar::of(DType::F32, divisor));
    Tape tape(e.make(Op::Fdiv, DType::F32, {a, b}), {a});
    CHECK(tape.nodes().back().op() != Op::Fdiv);
    for (const Scalar x : interesting(DType::F32, random, 20000)) {
      const double magnitude = std::abs(x.asFloat());
      const Scalar operands[] = {x, b.constant()}, expected = evalScalar(Op::Fdiv, DType::F32, operands),
                   got = tape({x});
      // What a smaller quotient leaves is a subnormal number, and so may the quotient be.
      const bool isSmall = magnitude < 0x1p-100 || std::abs(expected.asFloat()) < 0x1p-125;
      const double most = isSmall ? std::max(std::abs(expected.asFloat()) * 0x1p-22, 0x1p-147) : 0;
      CAPTURE(divisor, toText(x), toText(got), toText(expected));
      if (same(got, expected) || std::abs(got.asFloat() - expected.asFloat()) <= most) continue;
      FAIL("wrong value");
    }
    Emitter strict(g, {.numerics = Numerics::Strict, .correctsQuotients = true});
    CHECK(strict.make(Op::Fdiv, DType::F32, {a, b}).op() == Op::Fdiv);
  }
}

TEST_CASE("products with powers of two round once") {
  for (DType d : kFloats) {
    checkBinary(Op::Scaleb, d, {});
    Graph g;
    Emitter e(g, {});
    UOp x = leaf(g, d, 0), n = leaf(g, d, 1);
    Tape tape(e.make(Op::Scaleb, d, {x, n}), {x, n});
    std::mt19937_64 random(5);
    const int most = d == DType::F32 ? 330 : 2250;
    for (int power = -most; power <= most; ++power)
      for (int i = 0; i < 20; ++i) {
        Scalar operands[] = {Scalar::fromBits(d, random()), Scalar::ofFloat(d, power + (i % 4) / 4.0)};
        Scalar expected = evalScalar(Op::Scaleb, d, operands), got = tape({operands[0], operands[1]});
        if (same(got, expected)) continue;
        CAPTURE(toText(d), toText(operands[0]), toText(operands[1]), toText(got), toText(expected));
        FAIL("wrong value");
      }
  }
}

TEST_CASE("conversions saturate") {
  for (DType d : kFloats) {
    for (DType to : kInts) checkUnary(Op::Cast, d, to, {});
    checkUnary(Op::Cast, d, DType::Bool, {});
  }
  for (DType d : kInts) checkUnary(Op::Cast, d, DType::Bool, {});
}

TEST_CASE("division by a range that excludes the traps has no guard") {
  Graph g;
  Emitter e(g, {});
  UOp a = leaf(g, DType::I64, 0);
  UOp divisor = g.make(Op::Var, DType::I64, std::span<const UOp>{}, VarArg{"n", 1, 64});
  CHECK(e.make(Op::Cdiv, DType::I64, {a, divisor}).op() == Op::Cdiv);
  CHECK(e.make(Op::Cdiv, DType::I64, {a, a}).op() == Op::Where);
  UOp i = g.make(Op::Var, DType::I64, std::span<const UOp>{}, VarArg{"i", 0, 1000});
  CHECK(e.make(Op::Floordiv, DType::I64, {i, divisor}).op() == Op::Cdiv);
  CHECK(e.make(Op::Floordiv, DType::I64, {a, g.constant(Scalar::ofInt(DType::I64, 8))}).op() == Op::Shr);
  CHECK(e.make(Op::Floormod, DType::I64, {a, g.constant(Scalar::ofInt(DType::I64, 8))}).op() == Op::And);
}
