// <math.h> of C that svodc compiles: what processors have instructions for, or what a few of them compute exactly.
// Nothing here calls a library or sets errno.
#pragma once

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define M_PI 3.14159265358979323846
#define M_E 2.7182818284590452354
#define M_SQRT2 1.41421356237309504880
#define M_LN2 0.69314718055994530942

#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)

#define SVOD_MATH static inline __attribute__((always_inline, unused))

SVOD_MATH double fabs(double x) { return __builtin_fabs(x); }
SVOD_MATH float fabsf(float x) { return __builtin_fabsf(x); }
SVOD_MATH double sqrt(double x) { return __builtin_sqrt(x); }
SVOD_MATH float sqrtf(float x) { return __builtin_sqrtf(x); }
SVOD_MATH double copysign(double x, double y) { return __builtin_copysign(x, y); }
SVOD_MATH float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
SVOD_MATH double fmax(double x, double y) { return x != x || y > x ? y : x; }
SVOD_MATH float fmaxf(float x, float y) { return x != x || y > x ? y : x; }
SVOD_MATH double fmin(double x, double y) { return x != x || y < x ? y : x; }
SVOD_MATH float fminf(float x, float y) { return x != x || y < x ? y : x; }

#if defined(__SSE4_1__) || defined(__aarch64__)
SVOD_MATH double floor(double x) { return __builtin_floor(x); }
SVOD_MATH float floorf(float x) { return __builtin_floorf(x); }
SVOD_MATH double ceil(double x) { return __builtin_ceil(x); }
SVOD_MATH float ceilf(float x) { return __builtin_ceilf(x); }
SVOD_MATH double trunc(double x) { return __builtin_trunc(x); }
SVOD_MATH float truncf(float x) { return __builtin_truncf(x); }
SVOD_MATH double nearbyint(double x) { return __builtin_nearbyint(x); }
SVOD_MATH float nearbyintf(float x) { return __builtin_nearbyintf(x); }
#else
// Adding and subtracting 2^52 or 2^23 rounds to an integer; numbers from there on are integers, and NaN stays.
SVOD_MATH double nearbyint(double x) {
  const double most = 0x1p52, a = __builtin_fabs(x);
  return a < most ? __builtin_copysign((a + most) - most, x) : x;
}
SVOD_MATH float nearbyintf(float x) {
  const float most = 0x1p23f, a = __builtin_fabsf(x);
  return a < most ? __builtin_copysignf((a + most) - most, x) : x;
}
SVOD_MATH double floor(double x) {
  const double r = nearbyint(x);
  return __builtin_copysign(r > x ? r - 1.0 : r, x);
}
SVOD_MATH float floorf(float x) {
  const float r = nearbyintf(x);
  return __builtin_copysignf(r > x ? r - 1.0f : r, x);
}
SVOD_MATH double ceil(double x) {
  const double r = nearbyint(x);
  return __builtin_copysign(r < x ? r + 1.0 : r, x);
}
SVOD_MATH float ceilf(float x) {
  const float r = nearbyintf(x);
  return __builtin_copysignf(r < x ? r + 1.0f : r, x);
}
SVOD_MATH double trunc(double x) { return x < 0.0 ? ceil(x) : floor(x); }
SVOD_MATH float truncf(float x) { return x < 0.0f ? ceilf(x) : floorf(x); }
#endif
SVOD_MATH double rint(double x) { return nearbyint(x); }
SVOD_MATH float rintf(float x) { return nearbyintf(x); }
SVOD_MATH double round(double x) {
  const double t = trunc(x);
  return __builtin_fabs(x - t) >= 0.5 ? t + __builtin_copysign(1.0, x) : t;
}
SVOD_MATH float roundf(float x) {
  const float t = truncf(x);
  return __builtin_fabsf(x - t) >= 0.5f ? t + __builtin_copysignf(1.0f, x) : t;
}

#if defined(__FMA__) || defined(__aarch64__)
SVOD_MATH double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
SVOD_MATH float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#else
#define fma(x, y, z) _Static_assert(0, "fma: the processor of --cpu has no such instruction")
#define fmaf(x, y, z) _Static_assert(0, "fmaf: the processor of --cpu has no such instruction")
#endif

#undef SVOD_MATH
