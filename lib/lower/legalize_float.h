// f16, bf16 and the smaller floats by integer arithmetic: exact for every bit pattern, rounding to nearest even.
#pragma once
#include "lower/decompose_expr.h"

namespace svod::detail {

inline bool isSmallFloat(DType d) { return isFloat(d) && d != DType::F32 && d != DType::F64; }
/// u16 or u8: how a small float stands in memory; f4e2m1 in the low bits of a u8.
inline DType memoryDType(DType d) { return byteSize(d) == 2 ? DType::U16 : DType::U8; }

/// The f32 value of storage bits.
Ex decodeFloat(Ex storage, DType format);
/// Storage bits of an f32 or f64 value, rounded once. NaN gives the format's canonical NaN; 8 and fewer bits saturate.
Ex encodeFloat(Ex value, DType format);
/// The f32 value that decodeFloat(encodeFloat(value)) gives, for less.
Ex roundFloat(Ex value, DType format);

}  // namespace svod::detail
