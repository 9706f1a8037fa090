// Conversions between 64-bit integers and floats, which ARMv7 has no instructions for: what LLVM calls for them, under
// the names and with the registers that the ABI of the processor fixes. The argument of a conversion to an integer is
// in its range.
#pragma once
typedef __INT64_TYPE__ svod_i64;
typedef __UINT64_TYPE__ svod_u64;
typedef __UINT32_TYPE__ svod_u32;
typedef __INT32_TYPE__ svod_i32;
#define SVOD_CALL __attribute__((visibility("hidden"), pcs("aapcs")))

static svod_u64 svod_above(double x) {
  const svod_u32 high = (svod_u32)(x * 0x1p-32);
  return (svod_u64)high << 32 | (svod_u32)(x - (double)high * 0x1p32);
}

// The sum is the only rounding.
static double svod_wide(svod_i32 high, svod_u32 low) { return (double)high * 0x1p32 + (double)low; }
static double svod_wide_unsigned(svod_u32 high, svod_u32 low) { return (double)high * 0x1p32 + (double)low; }

// What a float does not hold of a number above 2^53 is put into one bit, so that the double is exact and the float of
// it rounds once.
static svod_u64 svod_sticky(svod_u64 x) { return x >> 53 != 0 ? (x & ~(svod_u64)0x7ff) | (x & 0x7ff ? 0x800 : 0) : x; }

SVOD_CALL svod_u64 __aeabi_d2ulz(double x) { return x > 0 ? svod_above(x) : 0; }
SVOD_CALL svod_i64 __aeabi_d2lz(double x) { return x < 0 ? (svod_i64)(0 - svod_above(-x)) : (svod_i64)svod_above(x); }
SVOD_CALL svod_u64 __aeabi_f2ulz(float x) { return x > 0 ? svod_above((double)x) : 0; }
SVOD_CALL svod_i64 __aeabi_f2lz(float x) {
  return x < 0 ? (svod_i64)(0 - svod_above(-(double)x)) : (svod_i64)svod_above((double)x);
}
SVOD_CALL double __aeabi_ul2d(svod_u64 x) { return svod_wide_unsigned((svod_u32)(x >> 32), (svod_u32)x); }
SVOD_CALL double __aeabi_l2d(svod_i64 x) { return svod_wide((svod_i32)(x >> 32), (svod_u32)x); }
SVOD_CALL float __aeabi_ul2f(svod_u64 x) {
  const svod_u64 y = svod_sticky(x);
  return (float)svod_wide_unsigned((svod_u32)(y >> 32), (svod_u32)y);
}
SVOD_CALL float __aeabi_l2f(svod_i64 x) {
  const float y = __aeabi_ul2f(x < 0 ? 0 - (svod_u64)x : (svod_u64)x);
  return x < 0 ? -y : y;
}
