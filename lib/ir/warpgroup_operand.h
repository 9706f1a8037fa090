// Factors of products of warpgroups in the memory of a workgroup: where their elements lie.
#pragma once
#include <cstdint>

namespace svod {

/// Rows of memory have 128 bytes, and their pieces of 16 bytes change places with the row: byte a lies at
/// a ^ ((a >> 7 & 7) << 4), a swizzle of 128 (lower/swizzle.h). A factor starts where 8 such rows do, but for a number
/// of terms.
inline constexpr int64_t kOperandRow = 128, kOperandRows = 8;
inline constexpr int64_t kOperandPeriod = kOperandRow * kOperandRows;

/// Elements of `bytes` bytes from the first of a factor to that of row (column) `row` and term `term`, before pieces
/// change places. With `apart` 0 terms are neighbours, and a row of memory holds those of one row; else rows are
/// neighbours, a row of memory holds 64 or so of them for one term, and the next ones follow `apart` bytes behind (PTX
/// ISA, "Strides" of wgmma: K-major and MN-major with 128-byte swizzling).
constexpr int64_t operandPlace(int64_t row, int64_t term, int64_t apart, int64_t bytes) {
  const int64_t side = kOperandRow / bytes;
  return apart == 0 ? row * side + term : row / side * (apart / bytes) + term * side + row % side;
}

}  // namespace svod
