/* What the text of a kernel calls, for the emulated grid: the functions of lib/target/cuda/prelude.cpp. */
#pragma once
#include "calls.h"

#include <stdbool.h>

/* clang-format off */

static const struct SvodCalls* svod_calls;
void svod_use(const struct SvodCalls* calls) { svod_calls = calls; }

#define SVOD_FN static inline
#define SVOD_RESTRICT
#define SVOD_KERNEL(threads) void
#define SVOD_ROUNDS(n)  // how often a loop is written out
#define SVOD_SHARED(bytes) unsigned char* const svod_shared = svod_calls->memory(svod_calls->grid, bytes)

/* -- where this thread is */
SVOD_FN uint32_t svod_gidx0() { return svod_calls->place(svod_calls->grid, 0); }
SVOD_FN uint32_t svod_gidx1() { return svod_calls->place(svod_calls->grid, 1); }
SVOD_FN uint32_t svod_gidx2() { return svod_calls->place(svod_calls->grid, 2); }
SVOD_FN uint32_t svod_lidx0() { return svod_calls->place(svod_calls->grid, 3); }
SVOD_FN uint32_t svod_lidx1() { return svod_calls->place(svod_calls->grid, 4); }
SVOD_FN uint32_t svod_lidx2() { return svod_calls->place(svod_calls->grid, 5); }
SVOD_FN uint32_t svod_uniform(uint32_t x) { return x; }
SVOD_FN void svod_barrier() { svod_calls->barrier(svod_calls->grid); }

/* -- the bits of numbers */
#define SVOD_BITS(from, name, to) \
  SVOD_FN to name(from x) { \
    union { from f; to t; } u; \
    u.f = x; \
    return u.t; \
  }
SVOD_BITS(uint32_t, bits_u32_f32, float)
SVOD_BITS(float, bits_f32_u32, uint32_t)
SVOD_BITS(int32_t, bits_i32_f32, float)
SVOD_BITS(float, bits_f32_i32, int32_t)
SVOD_BITS(uint64_t, bits_u64_f64, double)
SVOD_BITS(double, bits_f64_u64, uint64_t)
SVOD_BITS(int64_t, bits_i64_f64, double)
SVOD_BITS(double, bits_f64_i64, int64_t)
SVOD_FN double svod_math(int f, double x, double y, double z) { return svod_calls->math(svod_calls->grid, f, x, y, z); }
SVOD_FN uint16_t svod_f32_f16(float x) { return (uint16_t)svod_math(SvodToHalf, x, 0, 0); }
SVOD_FN float svod_sum(float x) { return x; }
SVOD_FN float svod_f16_f32(uint16_t x) { return (float)svod_math(SvodFromHalf, x, 0, 0); }

/* -- what CUDA has as built-in functions of C */
#ifdef __FMA__
#define fma(x, y, z) __builtin_fma(x, y, z)
#define fmaf(x, y, z) __builtin_fmaf(x, y, z)
#else
#define fma(x, y, z) svod_math(SvodFma, x, y, z)
#define fmaf(x, y, z) (float)svod_math(SvodFmaf, x, y, z)
#endif
#define trunc(x) svod_math(SvodTrunc, x, 0, 0)
#define truncf(x) (float)svod_math(SvodTrunc, x, 0, 0)
#define floor(x) svod_math(SvodFloor, x, 0, 0)
#define floorf(x) (float)svod_math(SvodFloor, x, 0, 0)
#define ceil(x) svod_math(SvodCeil, x, 0, 0)
#define ceilf(x) (float)svod_math(SvodCeil, x, 0, 0)
#define nearbyint(x) svod_math(SvodRound, x, 0, 0)
#define nearbyintf(x) (float)svod_math(SvodRound, x, 0, 0)
#define sqrt(x) svod_math(SvodSqrt, x, 0, 0)
#define sqrtf(x) (float)svod_math(SvodSqrtf, x, 0, 0)
#define fabs(x) bits_u64_f64(bits_f64_u64(x) & UINT64_C(0x7fffffffffffffff))
#define fabsf(x) bits_u32_f32(bits_f32_u32(x) & 0x7fffffffu)

/* -- memory of the device, and of the workgroup. A NaN is stored as a GPU makes it: here its bits depend on the order
   in which the C compiler took operands, and threads may only store the same. */
#define SVOD_MOVE(type, element, suffix) \
  SVOD_FN type svod_load_##suffix(const element* p) { \
    svod_calls->global(svod_calls->grid, p, sizeof(type), 0); \
    return *(const type*)p; \
  } \
  SVOD_FN void svod_store_##suffix(element* p, type x) { \
    element* e = (element*)&x; \
    for (unsigned i = 0; i < sizeof(type) / sizeof(element); ++i) \
      if (e[i] != e[i]) e[i] = (element)__builtin_nan(""); \
    svod_calls->global(svod_calls->grid, p, sizeof(type), &x); \
    *(type*)p = x; \
  } \
  SVOD_FN type svod_shared_load_##suffix(const element* p) { \
    svod_calls->shared(svod_calls->grid, p, sizeof(type), 0); \
    return *(const type*)p; \
  } \
  SVOD_FN void svod_shared_store_##suffix(element* p, type x) { \
    svod_calls->shared(svod_calls->grid, p, sizeof(type), &x); \
    *(type*)p = x; \
  }
#define SVOD_ACCESS(type, name) SVOD_MOVE(type, type, name)
#define SVOD_VECTOR(type, name, width) \
  typedef struct { type v[width]; } svod_##name##x##width; \
  SVOD_MOVE(svod_##name##x##width, type, name##x##width)
SVOD_ACCESS(int8_t, i8) SVOD_ACCESS(int16_t, i16) SVOD_ACCESS(int32_t, i32) SVOD_ACCESS(int64_t, i64)
SVOD_ACCESS(uint8_t, u8) SVOD_ACCESS(uint16_t, u16) SVOD_ACCESS(uint32_t, u32) SVOD_ACCESS(uint64_t, u64)
SVOD_ACCESS(float, f32) SVOD_ACCESS(double, f64)
SVOD_VECTOR(int8_t, i8, 2) SVOD_VECTOR(int8_t, i8, 4) SVOD_VECTOR(int8_t, i8, 8) SVOD_VECTOR(int8_t, i8, 16)
SVOD_VECTOR(uint8_t, u8, 2) SVOD_VECTOR(uint8_t, u8, 4) SVOD_VECTOR(uint8_t, u8, 8) SVOD_VECTOR(uint8_t, u8, 16)
SVOD_VECTOR(int16_t, i16, 2) SVOD_VECTOR(int16_t, i16, 4) SVOD_VECTOR(int16_t, i16, 8)
SVOD_VECTOR(uint16_t, u16, 2) SVOD_VECTOR(uint16_t, u16, 4) SVOD_VECTOR(uint16_t, u16, 8)
SVOD_VECTOR(int32_t, i32, 2) SVOD_VECTOR(int32_t, i32, 4) SVOD_VECTOR(int64_t, i64, 2)
SVOD_VECTOR(uint32_t, u32, 1) SVOD_VECTOR(uint32_t, u32, 2) SVOD_VECTOR(uint32_t, u32, 4) SVOD_VECTOR(uint64_t, u64, 2)
SVOD_VECTOR(float, f32, 2) SVOD_VECTOR(float, f32, 4) SVOD_VECTOR(double, f64, 2)

/* -- tensor cores */
#define SVOD_MMA(name, A, B, C) \
  SVOD_FN C svod_##name(A a, B b, C c) { \
    C d; \
    svod_calls->mma(svod_calls->grid, #name, &a, &b, &c, &d); \
    return d; \
  }
SVOD_MMA(m16n8k32_f8e4m3_f32, svod_u32x4, svod_u32x2, svod_f32x4)
SVOD_MMA(m16n8k32_f8e5m2_f32, svod_u32x4, svod_u32x2, svod_f32x4)
SVOD_MMA(m16n8k16_f16_f32, svod_u32x4, svod_u32x2, svod_f32x4)
SVOD_MMA(m16n8k16_bf16_f32, svod_u32x4, svod_u32x2, svod_f32x4)
SVOD_MMA(m16n8k16_f16_f16, svod_u32x4, svod_u32x2, svod_u16x4)
SVOD_MMA(m16n8k8_f16_f32, svod_u32x2, svod_u32x1, svod_f32x4)
SVOD_MMA(m16n8k8_f16_f16, svod_u32x2, svod_u32x1, svod_u16x4)
SVOD_MMA(m16n8k8_tf32_f32, svod_f32x4, svod_f32x2, svod_f32x4)

/* -- instructions of lib/ir/gpu_ops.def */
#define SVOD_SHUFFLE(type, name) \
  SVOD_FN type svod_shuffle_xor_##name(type value, int mask, uint32_t lanes) { \
    type result; \
    svod_calls->shuffle(svod_calls->grid, (uint32_t)mask, lanes, &value, sizeof(type), &result); \
    return result; \
  }
SVOD_SHUFFLE(int8_t, i8) SVOD_SHUFFLE(int16_t, i16) SVOD_SHUFFLE(int32_t, i32) SVOD_SHUFFLE(int64_t, i64)
SVOD_SHUFFLE(uint8_t, u8) SVOD_SHUFFLE(uint16_t, u16) SVOD_SHUFFLE(uint32_t, u32) SVOD_SHUFFLE(uint64_t, u64)
SVOD_SHUFFLE(float, f32) SVOD_SHUFFLE(double, f64) SVOD_SHUFFLE(bool, bool)
#define SVOD_COPY(bytes) \
  SVOD_FN void svod_cp_async##bytes(void* to, const void* from, bool ok) { \
    svod_calls->copy(svod_calls->grid, to, from, bytes, ok); \
  }
SVOD_COPY(4) SVOD_COPY(8) SVOD_COPY(16)
SVOD_FN void svod_cp_commit() { svod_calls->commit(svod_calls->grid); }
SVOD_FN void svod_cp_wait(int groups) { svod_calls->wait(svod_calls->grid, groups); }
#define SVOD_MATRICES(name, count, isTransposed) \
  SVOD_FN svod_u32x##count svod_##name(const void* row) { \
    svod_u32x##count result; \
    svod_calls->matrices(svod_calls->grid, count, isTransposed, row, result.v); \
    return result; \
  }
SVOD_MATRICES(ldmatrix_x2, 2, 0) SVOD_MATRICES(ldmatrix_x2_trans, 2, 1)
SVOD_MATRICES(ldmatrix_x4, 4, 0) SVOD_MATRICES(ldmatrix_x4_trans, 4, 1)

/* -- what lanes compute alone: approximations are off by as much as they may be */
SVOD_FN float svod_ex2_approx(float x) { return (float)svod_math(SvodExp2, x, 0, 0); }
SVOD_FN float svod_rcp_approx(float x) { return (float)svod_math(SvodReciprocal, x, 0, 0); }
SVOD_FN float svod_max_nan(float a, float b) { return (float)svod_math(SvodMax, a, b, 0); }
SVOD_FN float svod_min_nan(float a, float b) { return (float)svod_math(SvodMin, a, b, 0); }
SVOD_FN float svod_fma_sat(float a, float b, float c) { return (float)svod_math(SvodFmaSat, a, b, c); }
SVOD_FN uint16_t svod_f32_bf16(float x) { return (uint16_t)svod_math(SvodToBf16, x, 0, 0); }
SVOD_FN float svod_round_bf16(float x) { return bits_u32_f32((uint32_t)svod_f32_bf16(x) << 16); }
SVOD_FN uint8_t svod_f32_f8e4m3(float x) { return (uint8_t)svod_math(SvodToF8e4m3, x, 0, 0); }
SVOD_FN uint8_t svod_f32_f8e5m2(float x) { return (uint8_t)svod_math(SvodToF8e5m2, x, 0, 0); }
SVOD_FN float svod_f8e4m3_f32(uint8_t bits) { return (float)svod_math(SvodFromF8e4m3, bits, 0, 0); }
/* -- products of warpgroups */
SVOD_FN void svod_fence_async() { svod_calls->fence(svod_calls->grid); }
SVOD_FN void svod_wgmma_fence(float* sums, int count) { svod_calls->fenceSums(svod_calls->grid); }
SVOD_FN void svod_wgmma_commit() { svod_calls->commitProducts(svod_calls->grid); }
SVOD_FN void svod_wgmma_wait(float* sums, int count, int groups) {
  svod_calls->waitProducts(svod_calls->grid, sums, groups);
}
SVOD_FN uint64_t svod_factor(const uint16_t* buffer, int first, int more, int apart) {
  const uint32_t start = (svod_calls->address(svod_calls->grid, buffer) & 0x3ffff) >> 4 | (uint32_t)(apart >> 4) << 16;
  return start + (first >> 3) + (more >> 3) + ((uint64_t)(1024 >> 4 | 1 << 30) << 32);
}
/* -- mbarriers and bulk copies */
typedef struct SvodMap svod_map;
#define SVOD_MAP const svod_map*
#define SVOD_MAP_OF(map) map
SVOD_FN bool svod_elect() { return svod_calls->elect(svod_calls->grid) != 0; }
SVOD_FN void svod_mbar_init(uint64_t* bar, int arrivals) { svod_calls->makeMbarrier(svod_calls->grid, bar, arrivals); }
SVOD_FN void svod_mbar_expect(uint64_t* bar, int bytes) { svod_calls->expect(svod_calls->grid, bar, bytes); }
SVOD_FN void svod_mbar_wait(uint64_t* bar, int parity) { svod_calls->waitPhase(svod_calls->grid, bar, parity); }
SVOD_FN void svod_bulk_load(void* to, const svod_map* map, uint64_t* bar, int dims, int a, int b, int c, int d, int e) {
  const int at[5] = {a, b, c, d, e};
  svod_calls->bulkLoad(svod_calls->grid, to, map, bar, dims, at);
}
#define SVOD_GROUP_CORE(name) \
  SVOD_FN void svod_##name(float* d, uint64_t rows, uint64_t columns, int turned) { \
    svod_calls->product(svod_calls->grid, #name, d, rows, columns, turned); \
  }
SVOD_GROUP_CORE(m64n64k16_f16_f32) SVOD_GROUP_CORE(m64n128k16_f16_f32) SVOD_GROUP_CORE(m64n256k16_f16_f32)
SVOD_GROUP_CORE(m64n64k16_bf16_f32) SVOD_GROUP_CORE(m64n128k16_bf16_f32) SVOD_GROUP_CORE(m64n256k16_bf16_f32)
