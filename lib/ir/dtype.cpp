#include "ir/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace svod {

namespace {

constexpr DTypeInfo kDTypes[] = {
#define DTYPE(name, text, bits, kind, fraction, what) {text, bits, DTypeKind::kind, fraction, what},
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
  return bits <= 8 ? DType::I8 : bits <= 16 ? DType::I16 : bits <= 32 ? DType::I32 : DType::I64;
}

DType promoteFloats(DType a, DType b) {
  if (info(a).bits != info(b).bits) return info(a).bits > info(b).bits ? a : b;
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
  switch (d) {
    case DType::F8E4M3: return 448;
    case DType::F8E5M2: return 57344;
    case DType::F16: return 65504;
    case DType::BF16: return std::ldexp(255.0, 120);
    case DType::F32: return std::ldexp(16777215.0, 104);
    default: return std::ldexp(9007199254740991.0, 971);
  }
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
