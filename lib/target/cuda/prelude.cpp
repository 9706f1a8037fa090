// What the text of a kernel calls, for NVRTC: inline PTX and the built-in names of CUDA, and no header.
#include "target/cuda/print_cuda.h"

namespace svod {

namespace {

constexpr std::string_view kPrelude = R"CUDA(
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)  // nvcc, which knows the headers of the system
#include <stdint.h>
#else
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_C(x) x##ll
#define UINT64_C(x) x##ull
#define INT64_MIN (-0x7fffffffffffffffll - 1)
#define INT32_MIN (-0x7fffffff - 1)
#endif
#define SVOD_FN static __device__ __forceinline__
#define SVOD_RESTRICT __restrict__
#ifndef SVOD_GROUPS  // workgroups of one unit that registers are left for
#define SVOD_GROUPS 1
#endif
#define SVOD_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, SVOD_GROUPS)
#define SVOD_TEXT(x) #x
#define SVOD_ROUNDS(n) _Pragma(SVOD_TEXT(unroll n))  // how often the loop behind it is written out
#define SVOD_SHARED(bytes) extern __shared__ __align__(1024) unsigned char svod_shared[]

// -- where this thread is
SVOD_FN uint32_t svod_gidx0() { return blockIdx.x; }
SVOD_FN uint32_t svod_gidx1() { return blockIdx.y; }
SVOD_FN uint32_t svod_gidx2() { return blockIdx.z; }
SVOD_FN uint32_t svod_lidx0() { return threadIdx.x; }
SVOD_FN uint32_t svod_lidx1() { return threadIdx.y; }
SVOD_FN uint32_t svod_lidx2() { return threadIdx.z; }
// What is the same in all lanes of a warp.
SVOD_FN uint32_t svod_uniform(uint32_t x) { return __shfl_sync(0xffffffff, x, 0); }
SVOD_FN void svod_barrier() { __syncthreads(); }

// -- the bits of numbers
SVOD_FN float bits_u32_f32(uint32_t x) { return __uint_as_float(x); }
SVOD_FN uint32_t bits_f32_u32(float x) { return __float_as_uint(x); }
SVOD_FN float bits_i32_f32(int32_t x) { return __int_as_float(x); }
SVOD_FN int32_t bits_f32_i32(float x) { return __float_as_int(x); }
SVOD_FN double bits_u64_f64(uint64_t x) { return __longlong_as_double((int64_t)x); }
SVOD_FN uint64_t bits_f64_u64(double x) { return (uint64_t)__double_as_longlong(x); }
SVOD_FN double bits_i64_f64(int64_t x) { return __longlong_as_double(x); }
SVOD_FN int64_t bits_f64_i64(double x) { return __double_as_longlong(x); }
SVOD_FN uint16_t svod_f32_f16(float x) { uint16_t r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }
SVOD_FN float svod_f16_f32(uint16_t x) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x)); return r; }
// A sum that products of a warpgroup add to, where it is converted: ptxas makes pairs of conversions as early as it
// can, and would wait for each product of a loop where they read its sums. They do not read what was multiplied by one.
SVOD_FN float svod_sum(float x) { float r; asm("mul.rn.f32 %0, %1, 0f3F800000;" : "=f"(r) : "f"(x)); return r; }

// -- memory of the device, and of the workgroup
#define SVOD_ACCESS(type, name) \
  SVOD_FN type svod_load_##name(const type* p) { return *p; } \
  SVOD_FN void svod_store_##name(type* p, type x) { *p = x; } \
  SVOD_FN type svod_shared_load_##name(const type* p) { return *p; } \
  SVOD_FN void svod_shared_store_##name(type* p, type x) { *p = x; }
#define SVOD_VECTOR(type, name, width) \
  struct __align__(sizeof(type) * width) svod_##name##x##width { type v[width]; }; \
  SVOD_FN svod_##name##x##width svod_load_##name##x##width(const type* p) { return *(const svod_##name##x##width*)p; } \
  SVOD_FN void svod_store_##name##x##width(type* p, svod_##name##x##width x) { *(svod_##name##x##width*)p = x; } \
  SVOD_FN svod_##name##x##width svod_shared_load_##name##x##width(const type* p) { \
    return *(const svod_##name##x##width*)p; } \
  SVOD_FN void svod_shared_store_##name##x##width(type* p, svod_##name##x##width x) { *(svod_##name##x##width*)p = x; }
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

// -- tensor cores (lib/ir/tensor_cores.def): no `volatile`, so that ptxas schedules them
SVOD_FN uint32_t svod_tf32(float x) { uint32_t r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
#define SVOD_MMA_F32(name, words, ptx, apart, bpart, ...) \
  SVOD_FN svod_f32x4 svod_##name(words##x##apart a, words##x##bpart b, svod_f32x4 c) { \
    svod_f32x4 d = c; \
    asm(ptx : "+f"(d.v[0]), "+f"(d.v[1]), "+f"(d.v[2]), "+f"(d.v[3]) : __VA_ARGS__); \
    return d; }
#define SVOD_MMA_FORM(shape, types, a, b) \
  "mma.sync.aligned." shape ".row.col.f32." types ".f32 {%0,%1,%2,%3}, " a ", " b ", {%0,%1,%2,%3};"
#define SVOD_A4 "{%4,%5,%6,%7}"
#define SVOD_B2 "{%8,%9}"
#define SVOD_A4_B2 "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(b.v[0]), "r"(b.v[1])
SVOD_MMA_F32(m16n8k32_f8e4m3_f32, svod_u32, SVOD_MMA_FORM("m16n8k32", "e4m3.e4m3", SVOD_A4, SVOD_B2), 4, 2, SVOD_A4_B2)
SVOD_MMA_F32(m16n8k32_f8e5m2_f32, svod_u32, SVOD_MMA_FORM("m16n8k32", "e5m2.e5m2", SVOD_A4, SVOD_B2), 4, 2, SVOD_A4_B2)
SVOD_MMA_F32(m16n8k16_f16_f32, svod_u32, SVOD_MMA_FORM("m16n8k16", "f16.f16", SVOD_A4, SVOD_B2), 4, 2, SVOD_A4_B2)
SVOD_MMA_F32(m16n8k16_bf16_f32, svod_u32, SVOD_MMA_FORM("m16n8k16", "bf16.bf16", SVOD_A4, SVOD_B2), 4, 2, SVOD_A4_B2)
SVOD_MMA_F32(m16n8k8_f16_f32, svod_u32, SVOD_MMA_FORM("m16n8k8", "f16.f16", "{%4,%5}", "{%6}"), 2, 1,
  "r"(a.v[0]), "r"(a.v[1]), "r"(b.v[0]))
SVOD_MMA_F32(m16n8k8_tf32_f32, svod_f32, SVOD_MMA_FORM("m16n8k8", "tf32.tf32", SVOD_A4, SVOD_B2), 4, 2,
  "r"(svod_tf32(a.v[0])), "r"(svod_tf32(a.v[1])), "r"(svod_tf32(a.v[2])), "r"(svod_tf32(a.v[3])),
  "r"(svod_tf32(b.v[0])), "r"(svod_tf32(b.v[1])))
SVOD_FN uint32_t svod_pair(uint16_t low, uint16_t high) { return low | (uint32_t)high << 16; }
SVOD_FN svod_u16x4 svod_pairs(uint32_t low, uint32_t high) {
  svod_u16x4 r = {{(uint16_t)low, (uint16_t)(low >> 16), (uint16_t)high, (uint16_t)(high >> 16)}};
  return r; }
SVOD_FN svod_u16x4 svod_m16n8k16_f16_f16(svod_u32x4 a, svod_u32x2 b, svod_u16x4 c) {
  uint32_t d0 = svod_pair(c.v[0], c.v[1]), d1 = svod_pair(c.v[2], c.v[3]);
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
      : "+r"(d0), "+r"(d1) : SVOD_A4_B2);
  return svod_pairs(d0, d1); }
SVOD_FN svod_u16x4 svod_m16n8k8_f16_f16(svod_u32x2 a, svod_u32x1 b, svod_u16x4 c) {
  uint32_t d0 = svod_pair(c.v[0], c.v[1]), d1 = svod_pair(c.v[2], c.v[3]);
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
      : "+r"(d0), "+r"(d1) : "r"(a.v[0]), "r"(a.v[1]), "r"(b.v[0]));
  return svod_pairs(d0, d1); }

// -- instructions of lib/ir/gpu_ops.def
#define SVOD_SHUFFLE(type, name, wide) \
  SVOD_FN type svod_shuffle_xor_##name(type value, int mask, uint32_t lanes) { \
    return (type)__shfl_xor_sync(lanes, (wide)value, mask); }
SVOD_SHUFFLE(int8_t, i8, int32_t) SVOD_SHUFFLE(int16_t, i16, int32_t) SVOD_SHUFFLE(int32_t, i32, int32_t)
SVOD_SHUFFLE(uint8_t, u8, uint32_t) SVOD_SHUFFLE(uint16_t, u16, uint32_t) SVOD_SHUFFLE(uint32_t, u32, uint32_t)
SVOD_SHUFFLE(int64_t, i64, int64_t) SVOD_SHUFFLE(uint64_t, u64, uint64_t)
SVOD_SHUFFLE(float, f32, float) SVOD_SHUFFLE(double, f64, double) SVOD_SHUFFLE(bool, bool, int32_t)
SVOD_FN uint32_t svod_address(const void* shared) { return (uint32_t)__cvta_generic_to_shared(shared); }
#define SVOD_COPY(bytes, cache) \
  SVOD_FN void svod_cp_async##bytes(void* to, const void* from, bool ok) { \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes ", %2;" \
                 :: "r"(svod_address(to)), "l"(__cvta_generic_to_global(from)), "r"(ok ? bytes : 0) : "memory"); }
SVOD_COPY(4, "ca") SVOD_COPY(8, "ca") SVOD_COPY(16, "cg")
SVOD_FN void svod_cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
SVOD_FN void svod_cp_wait(int groups) {
  switch (groups) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
  } }
#define SVOD_MATRICES2(name, form) \
  SVOD_FN svod_u32x2 svod_##name(const void* row) { \
    svod_u32x2 r; \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" form ".shared.b16 {%0,%1}, [%2];" \
                 : "=r"(r.v[0]), "=r"(r.v[1]) : "r"(svod_address(row)) : "memory"); \
    return r; }
#define SVOD_MATRICES4(name, form) \
  SVOD_FN svod_u32x4 svod_##name(const void* row) { \
    svod_u32x4 r; \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" form ".shared.b16 {%0,%1,%2,%3}, [%4];" \
                 : "=r"(r.v[0]), "=r"(r.v[1]), "=r"(r.v[2]), "=r"(r.v[3]) : "r"(svod_address(row)) : "memory"); \
    return r; }
SVOD_MATRICES2(ldmatrix_x2, "") SVOD_MATRICES2(ldmatrix_x2_trans, ".trans")
SVOD_MATRICES4(ldmatrix_x4, "") SVOD_MATRICES4(ldmatrix_x4_trans, ".trans")
// -- what lanes compute alone: architectures that lack an instruction have no kernel that calls it
#define SVOD_LANE1(name, ptx) \
  SVOD_FN float svod_##name(float x) { float r; asm(ptx " %0, %1;" : "=f"(r) : "f"(x)); return r; }
#define SVOD_LANE2(name, ptx) \
  SVOD_FN float svod_##name(float a, float b) { \
    float r; \
    asm(ptx " %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); \
    return r; }
SVOD_LANE1(ex2_approx, "ex2.approx.ftz.f32") SVOD_LANE1(rcp_approx, "rcp.approx.ftz.f32")
SVOD_LANE2(max_nan, "max.NaN.f32") SVOD_LANE2(min_nan, "min.NaN.f32")
SVOD_FN float svod_fma_sat(float a, float b, float c) {
  float r;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  return r; }
SVOD_FN uint16_t svod_f32_bf16(float x) { uint16_t r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x)); return r; }
// The upper half of a pair, whose lower one is 0.
SVOD_FN float svod_round_bf16(float x) {
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(x), "f"(0.0f));
  return bits_u32_f32(r); }
#define SVOD_BYTE(name, ptx) \
  SVOD_FN uint8_t svod_##name(float x) { \
    uint16_t r; \
    asm(ptx " %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x)); \
    return (uint8_t)r; }
SVOD_BYTE(f32_f8e4m3, "cvt.rn.satfinite.e4m3x2.f32") SVOD_BYTE(f32_f8e5m2, "cvt.rn.satfinite.e5m2x2.f32")
SVOD_FN float svod_f8e4m3_f32(uint8_t bits) {
  uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((uint16_t)bits));
  return svod_f16_f32((uint16_t)halves); }
// -- products of warpgroups (GROUP_CORE of lib/ir/tensor_cores.def)
// What is read of sums behind a wait, or written to them before a fence, stays there: to the compiler it changes them.
SVOD_FN void svod_hold(float* sums, int count) {
  _Pragma("unroll") for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i]) :: "memory"); }
SVOD_FN void svod_fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
SVOD_FN void svod_wgmma_fence(float* sums, int count) {
  svod_hold(sums, count);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
SVOD_FN void svod_wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
SVOD_FN void svod_wgmma_wait(float* sums, int count, int groups) {
  switch (groups) {
    case 0: asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); break;
    case 1: asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); break;
    case 2: asm volatile("wgmma.wait_group.sync.aligned 2;" ::: "memory"); break;
    case 3: asm volatile("wgmma.wait_group.sync.aligned 3;" ::: "memory"); break;
    default: asm volatile("wgmma.wait_group.sync.aligned 4;" ::: "memory"); break;
  }
  svod_hold(sums, count); }
// The descriptor of a factor with 128-byte swizzling, `first` and `more` elements behind the start of a buffer: where
// it starts, bytes between its parts, and groups of 8 rows. What is the same in all rounds of a loop is added up apart.
SVOD_FN uint64_t svod_factor(const uint16_t* buffer, int first, int more, int apart) {
  const uint32_t start = (svod_address(buffer) & 0x3ffff) >> 4 | (uint32_t)(apart >> 4) << 16;
  uint64_t factor;
  asm("mov.b64 %0, {%1, %2};" : "=l"(factor) : "r"(start + (first >> 3) + (more >> 3)), "r"(1024 >> 4 | 1 << 30));
  return factor; }
// -- mbarriers and bulk copies
struct __align__(64) svod_map { uint64_t words[16]; };  // what the driver encodes
#define SVOD_MAP const __grid_constant__ svod_map
#define SVOD_MAP_OF(map) &map
SVOD_FN bool svod_elect() {
  const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return __shfl_sync(0xffffffffu, thread / 32, 0) == 0 && elected != 0; }
SVOD_FN void svod_mbar_init(uint64_t* bar, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(svod_address(bar)), "r"(arrivals) : "memory"); }
SVOD_FN void svod_mbar_expect(uint64_t* bar, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(svod_address(bar)), "r"(bytes) : "memory"); }
SVOD_FN void svod_mbar_wait(uint64_t* bar, int parity) {
  asm volatile("{ .reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra WAIT; }"
               :: "r"(svod_address(bar)), "r"(parity) : "memory"); }
// GPUs that know the memory of one workgroup apart check addresses of a cluster.
#if __CUDA_ARCH__ >= 1000
#define SVOD_OWN "shared::cta"
#else
#define SVOD_OWN "shared::cluster"
#endif
#define SVOD_BULK_LOAD(dims, at, ...) \
  asm volatile("cp.async.bulk.tensor." dims "." SVOD_OWN ".global.mbarrier::complete_tx::bytes " \
               "[%0], [%1, " at "], [%2];" \
               :: "r"(svod_address(to)), "l"(map), "r"(svod_address(bar)), __VA_ARGS__ : "memory")
SVOD_FN void svod_bulk_load(void* to, const svod_map* map, uint64_t* bar, int dims, int a, int b, int c, int d, int e) {
  switch (dims) {
    case 2: SVOD_BULK_LOAD("2d", "{%3, %4}", "r"(a), "r"(b)); break;
    case 3: SVOD_BULK_LOAD("3d", "{%3, %4, %5}", "r"(a), "r"(b), "r"(c)); break;
    case 4: SVOD_BULK_LOAD("4d", "{%3, %4, %5, %6}", "r"(a), "r"(b), "r"(c), "r"(d)); break;
    default: SVOD_BULK_LOAD("5d", "{%3, %4, %5, %6, %7}", "r"(a), "r"(b), "r"(c), "r"(d), "r"(e)); break;
  } }
#define SVOD_TEN(t) "%" t "0,%" t "1,%" t "2,%" t "3,%" t "4,%" t "5,%" t "6,%" t "7,%" t "8,%" t "9,"
#define SVOD_SUMS32 SVOD_TEN("") SVOD_TEN("1") SVOD_TEN("2") "%30,%31"
#define SVOD_SUMS64 SVOD_TEN("") SVOD_TEN("1") SVOD_TEN("2") SVOD_TEN("3") SVOD_TEN("4") SVOD_TEN("5") "%60,%61,%62,%63"
#define SVOD_SUMS128 SVOD_TEN("") SVOD_TEN("1") SVOD_TEN("2") SVOD_TEN("3") SVOD_TEN("4") SVOD_TEN("5") SVOD_TEN("6") \
  SVOD_TEN("7") SVOD_TEN("8") SVOD_TEN("9") SVOD_TEN("10") SVOD_TEN("11") "%120,%121,%122,%123,%124,%125,%126,%127"
#define SVOD_F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SVOD_F16(i) SVOD_F4(i), SVOD_F4(i + 4), SVOD_F4(i + 8), SVOD_F4(i + 12)
#define SVOD_F32(i) SVOD_F16(i), SVOD_F16(i + 16)
#define SVOD_F64(i) SVOD_F32(i), SVOD_F32(i + 32)
#define SVOD_F128(i) SVOD_F64(i), SVOD_F64(i + 64)
#define SVOD_GROUP_MMA(shape, types, count, a, b, turned) \
  asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned." shape ".f32." types \
               " {" SVOD_SUMS##count "}, " a ", " b ", p, 1, 1, " turned "; }" \
               : SVOD_F##count(0) : "l"(rows), "l"(columns))
#define SVOD_GROUP_CORE(name, shape, types, count, a, b) \
  SVOD_FN void svod_##name(float* d, uint64_t rows, uint64_t columns, int turned) { \
    switch (turned) { \
      case 0: SVOD_GROUP_MMA(shape, types, count, a, b, "0, 0"); break; \
      case 1: SVOD_GROUP_MMA(shape, types, count, a, b, "1, 0"); break; \
      case 2: SVOD_GROUP_MMA(shape, types, count, a, b, "0, 1"); break; \
      default: SVOD_GROUP_MMA(shape, types, count, a, b, "1, 1"); break; \
    } }
SVOD_GROUP_CORE(m64n64k16_f16_f32, "m64n64k16", "f16.f16", 32, "%32", "%33")
SVOD_GROUP_CORE(m64n128k16_f16_f32, "m64n128k16", "f16.f16", 64, "%64", "%65")
SVOD_GROUP_CORE(m64n256k16_f16_f32, "m64n256k16", "f16.f16", 128, "%128", "%129")
SVOD_GROUP_CORE(m64n64k16_bf16_f32, "m64n64k16", "bf16.bf16", 32, "%32", "%33")
SVOD_GROUP_CORE(m64n128k16_bf16_f32, "m64n128k16", "bf16.bf16", 64, "%64", "%65")
SVOD_GROUP_CORE(m64n256k16_bf16_f32, "m64n256k16", "bf16.bf16", 128, "%128", "%129")
)CUDA";

}  // namespace

std::string_view cudaPrelude() { return kPrelude; }

}  // namespace svod
