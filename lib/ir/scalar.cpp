#include "ir/scalar.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace svod {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct FloatFormat {
  int exponentBits, fractionBits;
  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int minExponent() const { return 1 - bias(); }  // of the smallest normal number
};

FloatFormat formatOf(DType d) {
  int bits = info(d).bits, fraction = info(d).fractionBits;
  return {bits - 1 - fraction, fraction};
}

double roundTo(DType dtype, double x) {
  if (std::isnan(x)) return kNaN;
  if (dtype == DType::F64) return x;
  if (dtype == DType::F32) return static_cast<double>(static_cast<float>(x));
  double limit = maxFinite(dtype);
  if (std::isinf(x)) return dtype == DType::F8E4M3 ? std::copysign(limit, x) : x;
  FloatFormat format = formatOf(dtype);
  int exponent = x == 0 ? 0 : std::max(std::ilogb(x), format.minExponent());
  int shift = format.fractionBits - exponent;
  double rounded = std::ldexp(std::nearbyint(std::ldexp(x, shift)), -shift);
  if (std::abs(rounded) > limit) return std::copysign(isFloat8(dtype) ? limit : kInf, x);
  return std::copysign(rounded, x);
}

int64_t wrap(DType dtype, int64_t v) {
  if (dtype == DType::Bool) return v != 0;
  int bits = info(dtype).bits;
  if (bits == 64) return v;
  uint64_t low = static_cast<uint64_t>(v) & ((uint64_t{1} << bits) - 1);
  if (isSigned(dtype) && (low >> (bits - 1)) != 0) low |= ~uint64_t{0} << bits;
  return static_cast<int64_t>(low);
}

double decode(DType dtype, uint64_t bits) {
  if (dtype == DType::F64) return std::bit_cast<double>(bits);
  if (dtype == DType::F32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  FloatFormat format = formatOf(dtype);
  uint64_t fraction = bits & ((uint64_t{1} << format.fractionBits) - 1);
  int top = (1 << format.exponentBits) - 1, exponent = static_cast<int>(bits >> format.fractionBits) & top;
  bool negative = (bits >> (info(dtype).bits - 1)) & 1;
  double value;
  if (dtype == DType::F8E4M3 ? (exponent == top && fraction == 7) : (exponent == top && fraction != 0))
    return kNaN;
  if (dtype != DType::F8E4M3 && exponent == top)
    value = kInf;
  else if (exponent == 0)
    value = std::ldexp(static_cast<double>(fraction), format.minExponent() - format.fractionBits);
  else
    value = std::ldexp(static_cast<double>(fraction | (uint64_t{1} << format.fractionBits)),
                       exponent - format.bias() - format.fractionBits);
  return negative ? -value : value;
}

uint64_t encode(DType dtype, double x) {
  if (dtype == DType::F64) return std::bit_cast<uint64_t>(x);
  if (dtype == DType::F32) return std::bit_cast<uint32_t>(static_cast<float>(x));
  FloatFormat format = formatOf(dtype);
  uint64_t sign = uint64_t{std::signbit(x)} << (info(dtype).bits - 1);
  uint64_t top = ((uint64_t{1} << format.exponentBits) - 1) << format.fractionBits;
  if (std::isnan(x)) return dtype == DType::F8E4M3 ? top | 7 : top | (uint64_t{1} << (format.fractionBits - 1));
  if (std::isinf(x)) return sign | top;
  if (x == 0) return sign;
  int exponent = std::max(std::ilogb(x), format.minExponent());
  auto mantissa = static_cast<uint64_t>(std::ldexp(std::abs(x), format.fractionBits - exponent));
  uint64_t implicit = uint64_t{1} << format.fractionBits;
  if (mantissa < implicit) return sign | mantissa;  // subnormal
  return sign | (static_cast<uint64_t>(exponent + format.bias()) << format.fractionBits) | (mantissa - implicit);
}

}  // namespace

Scalar Scalar::ofInt(DType dtype, int64_t value) {
  return Scalar(dtype, static_cast<uint64_t>(wrap(dtype, value)));
}

Scalar Scalar::ofFloat(DType dtype, double value) {
  return Scalar(dtype, std::bit_cast<uint64_t>(roundTo(dtype, value)));
}

Scalar Scalar::of(DType dtype, double value) {
  return isFloat(dtype) ? ofFloat(dtype, value) : ofInt(dtype, static_cast<int64_t>(value));
}

Scalar Scalar::fromBits(DType dtype, uint64_t bits) {
  if (!isFloat(dtype)) return ofInt(dtype, static_cast<int64_t>(bits));
  double value = decode(dtype, bits);
  return Scalar(dtype, std::bit_cast<uint64_t>(std::isnan(value) ? kNaN : value));
}

uint64_t Scalar::storageBits() const {
  if (isFloat(dtype_)) return encode(dtype_, asFloat());
  int bits = byteSize(dtype_) * 8;
  return bits == 64 ? raw_ : raw_ & ((uint64_t{1} << bits) - 1);
}

namespace {

// Fewest digits that round back to the value in its own dtype: 0.1 for the f32 next to 0.1.
std::to_chars_result shortestFloat(char* begin, char* end, const Scalar& value) {
  double x = value.asFloat();
  if (std::isfinite(x) && value.dtype() != DType::F64) {
    for (int digits = 1; digits <= 9; ++digits) {
      std::to_chars_result written = std::to_chars(begin, end, x, std::chars_format::general, digits);
      double parsed = 0;
      std::from_chars(begin, written.ptr, parsed);
      if (Scalar::ofFloat(value.dtype(), parsed) == value) return written;
    }
  }
  return std::to_chars(begin, end, x);
}

}  // namespace

std::string toText(const Scalar& value) {
  if (value.dtype() == DType::Bool) return value.asInt() != 0 ? "true" : "false";
  char buffer[40];
  std::to_chars_result end{};
  if (isFloat(value.dtype()))
    end = shortestFloat(buffer, buffer + sizeof buffer, value);
  else if (value.dtype() == DType::U64)
    end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<uint64_t>(value.asInt()));
  else
    end = std::to_chars(buffer, buffer + sizeof buffer, value.asInt());
  std::string text(buffer, end.ptr);
  // "1" of a float prints as "1.0" so that the text shows what it is.
  if (isFloat(value.dtype()) && text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

namespace {

int64_t asSignedOrUnsigned(const Scalar& s, bool& isHuge) {
  isHuge = s.dtype() == DType::U64 && s.asInt() < 0;
  return s.asInt();
}

Scalar castInt(DType to, const Scalar& x) {
  bool huge = false;
  int64_t v = asSignedOrUnsigned(x, huge);
  if (!isFloat(to)) return Scalar::ofInt(to, v);
  if (to == DType::F64) return Scalar::ofFloat(to, huge ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(v));
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

double evalBinaryFloat(Op op, double a, double b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Fdiv: return a / b;
    case Op::Pow: return std::pow(a, b);
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
      return b != 0 && r.remainder != 0 && isSigned(dtype) && (r.remainder < 0) != (b < 0) ? r.quotient - 1 : r.quotient;
    }
    case Op::Floormod: {
      QuoRem r = divide(dtype, a, b);
      return b != 0 && r.remainder != 0 && isSigned(dtype) && (r.remainder < 0) != (b < 0) ? r.remainder + b : r.remainder;
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
  return dtype == DType::F32
             ? std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c))
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
    if (in.size() == 1) return Scalar::ofFloat(result, evalUnaryFloat(op, in[0].asFloat()));
    if (in.size() == 2) return Scalar::ofFloat(result, evalBinaryFloat(op, in[0].asFloat(), in[1].asFloat()));
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
  if (isFloat(dtype)) return Scalar::ofFloat(dtype, op == Op::Max ? -kInf : kInf);
  if (dtype == DType::U64 && op == Op::Min) return Scalar::ofInt(dtype, -1);
  return Scalar::ofInt(dtype, op == Op::Max ? minInt(dtype) : maxInt(dtype));
}

}  // namespace svod
