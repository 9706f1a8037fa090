// Element types: the table in dtypes.def, predicates over it and the promotion lattice.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace svod {

enum class DType : uint8_t {
#define DTYPE(name, text, bits, kind, fraction, specials, what) name,
#include "ir/dtypes.def"
#undef DTYPE
};

enum class DTypeKind : uint8_t { Void, Bool, Signed, Unsigned, Float, Index };

/// What the bit patterns of a float mean that are no ordinary numbers.
enum class Specials : uint8_t {
  None,     // no float
  Ieee,     // the largest exponent holds infinity and NaN
  OneNan,   // all ones is NaN, no infinity
  ZeroNan,  // what would be -0 is NaN, no infinity; exponents are biased by one more
  Numbers,  // nothing but numbers
  Powers,   // the exponent alone: no sign, no zero, no infinity; all ones is NaN
};

struct DTypeInfo {
  std::string_view text;
  int bits;  // of the value; bool is 1
  DTypeKind kind;
  int fractionBits;
  Specials specials;
  std::string_view what;
};

const DTypeInfo& info(DType dtype);
std::span<const DType> allDTypes();
inline std::string_view toText(DType dtype) { return info(dtype).text; }
std::optional<DType> dtypeFromText(std::string_view text);

/// Bytes one element takes where it stands alone: in registers, temporaries and HostTensor.
inline int byteSize(DType d) { return (info(d).bits + 7) / 8; }
/// Bits one element takes in the memory of a port.
inline int memoryBits(DType d) { return d == DType::Bool ? 8 : info(d).bits; }
/// Whether several elements share a byte in the memory of a port; the first one has the low bits.
inline bool isPacked(DType d) { return memoryBits(d) < 8 && d != DType::Void; }
inline int elementsPerByte(DType d) { return isPacked(d) ? 8 / info(d).bits : 1; }
/// Bytes that `elements` of them take in the memory of a port.
inline int64_t memoryBytes(DType d, int64_t elements) {
  return isPacked(d) ? elements / elementsPerByte(d) + (elements % elementsPerByte(d) != 0) : elements * byteSize(d);
}
inline bool isFloat(DType d) { return info(d).kind == DTypeKind::Float; }
inline bool isSigned(DType d) { return info(d).kind == DTypeKind::Signed || info(d).kind == DTypeKind::Index; }
inline bool isUnsigned(DType d) { return info(d).kind == DTypeKind::Unsigned; }
/// True for fixed-width integers and Index, not for Bool.
inline bool isInt(DType d) { return isSigned(d) || isUnsigned(d); }
/// Floats of 8 bits and fewer: conversion to them saturates.
inline bool isMinifloat(DType d) { return isFloat(d) && info(d).bits <= 8; }
/// False for what only holds values: these are moved, compared, selected and converted.
inline bool isComputedIn(DType d) { return info(d).specials != Specials::Powers; }
/// How many products of this dtype a dot product instruction sums up; 0 where no CPU has such an instruction.
int dotGroup(DType factor);
/// Whether they are summed in `sum`.
bool sumsDots(DType factor, DType sum);
/// The unsigned integer with as many bits in memory.
DType unsignedOf(DType dtype);

/// Smallest and largest value of an integer or Bool dtype as i64. U64's maximum saturates to INT64_MAX.
int64_t minInt(DType dtype);
int64_t maxInt(DType dtype);
/// Largest finite value of a float dtype.
double maxFinite(DType dtype);

/// Layout of a float dtype: sign, exponent, fraction from the high bits down.
struct FloatFormat {
  Specials specials;
  int exponentBits, fractionBits, bias;
  uint64_t signBit;                             // 0 where there is no sign
  uint64_t infinity;                            // bits of +infinity, of an Ieee format
  uint64_t largest;                             // of the largest finite value
  uint64_t nan;                                 // of the NaN that conversions give; 0 where there is none
  int minExponent() const { return 1 - bias; }  // of the smallest normal number
  bool hasInfinity() const { return specials == Specials::Ieee; }
  bool hasNan() const { return specials != Specials::Numbers; }
  bool hasNegativeZero() const { return signBit != 0 && specials != Specials::ZeroNan; }
};
FloatFormat floatFormat(DType dtype);

/// Least common dtype of two operands: bool < ints < f4 < f8 < {f16, bf16} < f32 < f64, where two 8-bit floats meet in
/// f16, f8e8m0 counts as bf16 and f16 meets bf16 in f32; signed joins unsigned in the next wider signed type
/// (i64 with u64 gives f32, as in the lattice of docs/graph-format.md).
DType promote(DType a, DType b);
/// Dtype a sum of `dtype` accumulates in: at least i32, u32 or f32.
DType sumDType(DType dtype);

}  // namespace svod
