#include "ir/scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/steady_math.h"

namespace svod {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

int64_t asSignedOrUnsigned(const Scalar& s, bool& isHuge) {
  isHuge = s.dtype() == DType::U64 && s.asInt() < 0;
  return s.asInt();
}

Scalar castInt(DType to, const Scalar& x) {
  bool huge = false;
  int64_t v = asSignedOrUnsigned(x, huge);
  if (!isFloat(to)) return Scalar::ofInt(to, v);
  if (to == DType::F64)
    return Scalar::ofFloat(to, huge ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(v));
  return Scalar::ofFloat(to, huge ? static_cast<float>(static_cast<uint64_t>(v)) : static_cast<float>(v));
}

Scalar castFloat(DType to, double x) {
  if (isFloat(to)) return Scalar::ofFloat(to, x);
  if (to == DType::Bool) return Scalar::ofInt(to, x != 0);
  if (std::isnan(x)) return Scalar::ofInt(to, 0);
  double t = std::trunc(x);
  if (to == DType::U64) {
    if (t >= 18446744073709551616.0) return Scalar::ofInt(to, -1);
    return Scalar::ofInt(to, t <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(t)));
  }
  if (t >= 9223372036854775808.0 || t > static_cast<double>(maxInt(to))) return Scalar::ofInt(to, maxInt(to));
  if (t < static_cast<double>(minInt(to))) return Scalar::ofInt(to, minInt(to));
  return Scalar::ofInt(to, static_cast<int64_t>(t));
}

double evalUnaryFloat(Op op, double x) {
  switch (op) {
    case Op::Neg: return -x;
    case Op::Abs: return std::abs(x);
    case Op::Recip: return 1.0 / x;
    case Op::Sqrt: return std::sqrt(x);
    case Op::Exp: return std::exp(x);
    case Op::Exp2: return std::exp2(x);
    case Op::Log: return std::log(x);
    case Op::Log2: return std::log2(x);
    case Op::Sin: return std::sin(x);
    case Op::Cos: return std::cos(x);
    case Op::Tan: return std::tan(x);
    case Op::Tanh: return std::tanh(x);
    case Op::Erf: return std::erf(x);
    case Op::Trunc: return std::trunc(x);
    case Op::Floor: return std::floor(x);
    case Op::Ceil: return std::ceil(x);
    case Op::Round: return std::nearbyint(x);
    default: return kNaN;
  }
}

double scaleByPower(double x, double n) {
  constexpr double kBeyondAll = 5000;  // any f64 times two to this is infinite, divided by it 0
  if (std::isnan(x) || std::isnan(n)) return kNaN;
  return std::scalbn(x, static_cast<int>(std::clamp(std::floor(n), -kBeyondAll, kBeyondAll)));
}

double evalBinaryFloat(Op op, double a, double b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Fdiv: return a / b;
    case Op::Fmod: return std::fmod(a, b);
    case Op::Pow: return std::pow(a, b);
    case Op::Scaleb: return scaleByPower(a, b);
    case Op::Max: return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b);
    case Op::Min: return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b);
    default: return kNaN;
  }
}

bool evalCompare(Op op, const Scalar& a, const Scalar& b) {
  auto compare = [op](auto x, auto y) {
    return op == Op::Lt ? x < y : op == Op::Le ? x <= y : op == Op::Eq ? x == y : x != y;
  };
  if (isFloat(a.dtype())) return compare(a.asFloat(), b.asFloat());
  if (a.dtype() == DType::U64) return compare(static_cast<uint64_t>(a.asInt()), static_cast<uint64_t>(b.asInt()));
  return compare(a.asInt(), b.asInt());
}

// Truncating quotient and remainder with the defined results for 0 and MIN / -1, for values of `dtype`.
struct QuoRem {
  int64_t quotient, remainder;
};
QuoRem divide(DType dtype, int64_t a, int64_t b) {
  if (b == 0) return {-1, a};
  if (dtype == DType::U64) {
    auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    return {static_cast<int64_t>(ua / ub), static_cast<int64_t>(ua % ub)};
  }
  if (b == -1) return {static_cast<int64_t>(0 - static_cast<uint64_t>(a)), 0};
  return {a / b, a % b};
}

uint64_t threefry(uint64_t counter, uint64_t key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t ks[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  uint32_t x0 = static_cast<uint32_t>(counter) + ks[0], x1 = static_cast<uint32_t>(counter >> 32) + ks[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += ks[(group + 1) % 3];
    x1 += ks[(group + 2) % 3] + group + 1;
  }
  return uint64_t{x1} << 32 | x0;
}

int64_t shift(Op op, DType dtype, int64_t a, int64_t count) {
  int width = info(dtype).bits;
  bool over = count < 0 || count >= width;
  if (op == Op::Shl) return over ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << count);
  if (isSigned(dtype)) return a >> (over ? 63 : count);
  return over ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) >> count);
}

int64_t evalBinaryInt(Op op, DType dtype, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  bool less = dtype == DType::U64 ? ua < ub : a < b;
  switch (op) {
    case Op::Add: return dtype == DType::Bool ? (a | b) : static_cast<int64_t>(ua + ub);
    case Op::Sub: return static_cast<int64_t>(ua - ub);
    case Op::Mul: return static_cast<int64_t>(ua * ub);
    case Op::Max: return less ? b : a;
    case Op::Min: return less ? a : b;
    case Op::Cdiv: return divide(dtype, a, b).quotient;
    case Op::Cmod: return divide(dtype, a, b).remainder;
    case Op::Floordiv: {
      QuoRem r = divide(dtype, a, b);
      return b != 0 && r.remainder != 0 && isSigned(dtype) && (r.remainder < 0) != (b < 0) ? r.quotient - 1
                                                                                           : r.quotient;
    }
    case Op::Floormod: {
      QuoRem r = divide(dtype, a, b);
      return b != 0 && r.remainder != 0 && isSigned(dtype) && (r.remainder < 0) != (b < 0) ? r.remainder + b
                                                                                           : r.remainder;
    }
    case Op::Shl:
    case Op::Shr: return shift(op, dtype, a, b);
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::Threefry: return static_cast<int64_t>(threefry(ua, ub));
    default: return 0;
  }
}

int64_t evalUnaryInt(Op op, DType dtype, int64_t x) {
  switch (op) {
    case Op::Neg: return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
    case Op::Not: return dtype == DType::Bool ? x == 0 : ~x;
    case Op::Abs: return x < 0 && isSigned(dtype) ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
    default: return x;  // rounding an integer changes nothing
  }
}

double fusedMultiplyAdd(DType dtype, double a, double b, double c) {
  return dtype == DType::F32 ? std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c))
                             : std::fma(a, b, c);
}

}  // namespace

Scalar evalScalar(Op op, DType result, std::span<const Scalar> in) {
  DType d = in[0].dtype();
  if (op == Op::Cast) return isFloat(d) ? castFloat(result, in[0].asFloat()) : castInt(result, in[0]);
  if (op == Op::Bitcast) return Scalar::fromBits(result, in[0].storageBits());
  if (op == Op::Where) return in[0].asInt() != 0 ? in[1] : in[2];
  if (has(op, Comparison)) return Scalar::ofInt(DType::Bool, evalCompare(op, in[0], in[1]));
  if (isFloat(d)) {
    const double x = in[0].asFloat(), y = in.size() == 2 ? in[1].asFloat() : 0;
    if (in.size() == 1) return Scalar::ofFloat(result, steadyValue(op, x, y, evalUnaryFloat(op, x), result));
    if (in.size() == 2) {
      const double value = steadyValue(op, x, y, evalBinaryFloat(op, x, y), result);
      // Small floats compute in f32, whose infinity is not what a larger number saturates to.
      return Scalar::ofFloat(result, op == Op::Scaleb && d != DType::F64 ? static_cast<float>(value) : value);
    }
    return Scalar::ofFloat(result, fusedMultiplyAdd(d, in[0].asFloat(), in[1].asFloat(), in[2].asFloat()));
  }
  if (in.size() == 1) return Scalar::ofInt(result, evalUnaryInt(op, d, in[0].asInt()));
  if (in.size() == 2) return Scalar::ofInt(result, evalBinaryInt(op, d, in[0].asInt(), in[1].asInt()));
  Scalar product = Scalar::ofInt(d, evalBinaryInt(Op::Mul, d, in[0].asInt(), in[1].asInt()));
  return Scalar::ofInt(result, evalBinaryInt(Op::Add, d, product.asInt(), in[2].asInt()));
}

Scalar identity(Op op, DType dtype) {
  if (op == Op::Add) return Scalar::of(dtype, 0);
  if (op == Op::Mul) return Scalar::of(dtype, 1);
  if (isFloat(dtype)) {
    double least = floatFormat(dtype).signBit != 0 ? -kInf : 0;
    return Scalar::ofFloat(dtype, op == Op::Max ? least : kInf);
  }
  if (dtype == DType::U64 && op == Op::Min) return Scalar::ofInt(dtype, -1);
  return Scalar::ofInt(dtype, op == Op::Max ? minInt(dtype) : maxInt(dtype));
}

}  // namespace svod
