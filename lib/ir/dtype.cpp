#include "ir/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace svod {

namespace {

constexpr DTypeInfo kDTypes[] = {
#define DTYPE(name, text, bits, kind, fraction, specials, what) \
  {text, bits, DTypeKind::kind, fraction, Specials::specials, what},
#include "ir/dtypes.def"
#undef DTYPE
};
constexpr size_t kCount = std::size(kDTypes);
constexpr auto kList = [] {
  std::array<DType, kCount> list{};
  for (size_t i = 0; i < kCount; ++i) list[i] = static_cast<DType>(i);
  return list;
}();

DType signedOfBits(int bits) {
  return bits <= 4 ? DType::I4 : bits <= 8 ? DType::I8 : bits <= 16 ? DType::I16 : bits <= 32 ? DType::I32 : DType::I64;
}

DType promoteFloats(DType a, DType b) {
  if (a == DType::F8E8M0) a = DType::BF16;  // the smallest that has all of its exponents
  if (b == DType::F8E8M0) b = DType::BF16;
  if (info(a).bits != info(b).bits || a == b) return info(a).bits > info(b).bits ? a : b;
  return info(a).bits == 8 ? DType::F16 : DType::F32;  // two 8-bit kinds, or f16 with bf16
}

}  // namespace

const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }
std::span<const DType> allDTypes() { return kList; }

std::optional<DType> dtypeFromText(std::string_view text) {
  for (DType d : kList)
    if (info(d).text == text) return d;
  return std::nullopt;
}

int64_t minInt(DType d) {
  if (!isSigned(d)) return 0;
  return info(d).bits == 64 ? INT64_MIN : -(int64_t{1} << (info(d).bits - 1));
}

int64_t maxInt(DType d) {
  if (d == DType::Bool) return 1;
  if (info(d).bits == 64) return INT64_MAX;
  return (int64_t{1} << (info(d).bits - (isSigned(d) ? 1 : 0))) - 1;
}

double maxFinite(DType d) {
  FloatFormat f = floatFormat(d);
  uint64_t implicit = uint64_t{1} << f.fractionBits, exponent = f.largest >> f.fractionBits;
  auto mantissa = static_cast<double>((f.largest & (implicit - 1)) | implicit);
  return std::ldexp(mantissa, static_cast<int>(exponent) - f.bias - f.fractionBits);
}

FloatFormat floatFormat(DType d) {
  const DTypeInfo& row = info(d);
  FloatFormat f{
      row.specials, row.bits - 1 - row.fractionBits, row.fractionBits, 0, uint64_t{1} << (row.bits - 1), 0, 0, 0};
  if (f.specials == Specials::Powers) return {f.specials, row.bits, 0, 127, 0, 0, 0xfe, 0xff};
  f.bias = (1 << (f.exponentBits - 1)) - (f.specials == Specials::ZeroNan ? 0 : 1);
  uint64_t top = ((uint64_t{1} << f.exponentBits) - 1) << f.fractionBits, ones = f.signBit - 1;
  f.largest = ones;
  if (f.specials == Specials::Ieee)
    f.infinity = top, f.largest = top - 1, f.nan = top | (uint64_t{1} << (f.fractionBits - 1));
  if (f.specials == Specials::OneNan) f.largest = ones - 1, f.nan = ones;
  if (f.specials == Specials::ZeroNan) f.nan = f.signBit;
  return f;
}

int dotGroup(DType factor) {
  if (factor == DType::BF16) return 2;
  return isInt(factor) && info(factor).bits == 8 ? 4 : 0;
}

bool sumsDots(DType factor, DType sum) {
  if (factor == DType::BF16) return sum == DType::F32;
  return dotGroup(factor) > 0 && isInt(sum) && info(sum).bits == 32;
}

DType unsignedOf(DType d) {
  for (DType u : {DType::U2, DType::U4, DType::U8, DType::U16, DType::U32})
    if (info(u).bits == memoryBits(d)) return u;
  return DType::U64;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::Void || b == DType::Void) return a == DType::Void ? b : a;
  if (a == DType::Bool || b == DType::Bool) return a == DType::Bool ? b : a;
  if (isFloat(a) && isFloat(b)) return promoteFloats(a, b);
  if (isFloat(a) || isFloat(b)) return isFloat(a) ? a : b;
  if (a == DType::Index || b == DType::Index) return a == DType::Index ? b : a;
  if (isSigned(a) == isSigned(b)) return info(a).bits > info(b).bits ? a : b;
  DType s = isSigned(a) ? a : b, u = isSigned(a) ? b : a;
  if (info(s).bits > info(u).bits) return s;
  return info(u).bits == 64 ? DType::F32 : signedOfBits(info(u).bits * 2);
}

DType sumDType(DType d) {
  if (isFloat(d)) return d == DType::F64 ? d : DType::F32;
  if (isUnsigned(d)) return info(d).bits < 32 ? DType::U32 : d;
  return d == DType::Bool || info(d).bits < 32 ? DType::I32 : d;
}

}  // namespace svod
