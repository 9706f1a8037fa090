// Element types: the table in dtypes.def, predicates over it and the promotion lattice.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace svod {

enum class DType : uint8_t {
#define DTYPE(name, text, bits, kind, fraction, what) name,
#include "ir/dtypes.def"
#undef DTYPE
};

enum class DTypeKind : uint8_t { Void, Bool, Signed, Unsigned, Float, Index };

struct DTypeInfo {
  std::string_view text;
  int bits;  // of the value; bool is 1
  DTypeKind kind;
  int fractionBits;
  std::string_view what;
};

const DTypeInfo& info(DType dtype);
std::span<const DType> allDTypes();
inline std::string_view toText(DType dtype) { return info(dtype).text; }
std::optional<DType> dtypeFromText(std::string_view text);

/// Bytes one element takes in memory.
inline int byteSize(DType d) { return (info(d).bits + 7) / 8; }
inline bool isFloat(DType d) { return info(d).kind == DTypeKind::Float; }
inline bool isSigned(DType d) { return info(d).kind == DTypeKind::Signed || info(d).kind == DTypeKind::Index; }
inline bool isUnsigned(DType d) { return info(d).kind == DTypeKind::Unsigned; }
/// True for fixed-width integers and Index, not for Bool.
inline bool isInt(DType d) { return isSigned(d) || isUnsigned(d); }
inline bool isFloat8(DType d) { return d == DType::F8E4M3 || d == DType::F8E5M2; }

/// Smallest and largest value of an integer or Bool dtype as i64. U64's maximum saturates to INT64_MAX.
int64_t minInt(DType dtype);
int64_t maxInt(DType dtype);
/// Largest finite value of a float dtype.
double maxFinite(DType dtype);

/// Least common dtype of two operands: bool < ints < f8 < {f16, bf16} < f32 < f64; signed joins unsigned in the
/// next wider signed type (i64 with u64 gives f32, as in the lattice of docs/graph-format.md).
DType promote(DType a, DType b);
/// Dtype a sum of `dtype` accumulates in: at least i32, u32 or f32.
DType sumDType(DType dtype);

}  // namespace svod
