// Division of integers that rounds in one direction.
#pragma once
#include <bit>
#include <cstdint>

namespace svod {

/// Rounded toward minus infinity; b != 0, and not the least number / -1. Of int64_t or __int128.
template <class Int>
constexpr Int floorDivide(Int a, Int b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
/// What remains: it has the sign of b.
template <class Int>
constexpr Int floorModulo(Int a, Int b) {
  const Int rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Rounded up; a >= 0, b > 0.
constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// The least multiple of `step` that is not below n.
constexpr int64_t roundUp(int64_t n, int64_t step) { return ceilDiv(n, step) * step; }
/// The largest power of two that is not above n > 0.
constexpr int64_t powerBelow(int64_t n) { return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))); }

/// The greatest divisor of n > 0 between `least` and `most`; 0 for none.
constexpr int64_t divisorWithin(int64_t n, int64_t least, int64_t most) {
  for (int64_t d = most < n ? most : n; d >= 1 && d >= least; --d)
    if (n % d == 0) return d;
  return 0;
}

}  // namespace svod
