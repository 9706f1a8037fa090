// One constant value and the exact meaning of every elementwise op on constants. The interpreter, constant folding
// and the tests all use these functions: they are the definition of the language.
#pragma once
#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "ir/dtype.h"
#include "ir/op.h"

namespace svod {

/// A value of one dtype. Integers, Index and Bool live in an i64 (U64 as its bit pattern), floats in a double that is
/// always exactly representable in the dtype. NaN is canonical, so equal values have equal bits.
class Scalar {
 public:
  Scalar() = default;
  /// Wraps `value` to the width of `dtype` (Bool: value != 0). `dtype` must be Bool, an integer or Index.
  static Scalar ofInt(DType dtype, int64_t value);
  /// Rounds `value` to `dtype`, nearest even. A finite value beyond the range gives infinity, except that floats of 8
  /// and fewer bits saturate; infinity saturates where the dtype has none, NaN gives 0 where it has none. f8e8m0 takes
  /// the magnitude, and the larger one of two powers that are equally near.
  static Scalar ofFloat(DType dtype, double value);
  /// Converts a number to any dtype: ofFloat for float dtypes, else ofInt.
  static Scalar of(DType dtype, double value);
  static Scalar fromBits(DType dtype, uint64_t storageBits);  // from the bits in memory

  DType dtype() const { return dtype_; }
  int64_t asInt() const { return static_cast<int64_t>(raw_); }    // not for floats
  double asFloat() const { return std::bit_cast<double>(raw_); }  // floats only
  uint64_t raw() const { return raw_; }                           // internal encoding, key for interning
  uint64_t storageBits() const;  // the bits in memory, byteSize(dtype) bytes; i2 and i4 extend their sign
  bool operator==(const Scalar&) const = default;

 private:
  Scalar(DType dtype, uint64_t raw) : dtype_(dtype), raw_(raw) {}
  DType dtype_ = DType::Void;
  uint64_t raw_ = 0;
};

std::string toText(const Scalar& value);  // shortest text that parses back to the same value

/// Applies an elementwise op. `result` is the dtype of the node (needed for Cast and Bitcast).
/// Transcendentals are computed in double and rounded once.
Scalar evalScalar(Op op, DType result, std::span<const Scalar> operands);

/// The neutral element of a reduction by Add, Mul, Max or Min. Max starts at -infinity (or the smallest integer).
Scalar identity(Op reduceOp, DType dtype);

}  // namespace svod
