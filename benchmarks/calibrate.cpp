// Loops that each show one fact of the machine that lib/cost predicts with. Built and timed by scripts/calibrate.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(4 * kLanes)));
typedef float Unaligned __attribute__((vector_size(4 * kLanes), aligned(4)));

template <class Value>
void keep(Value& value) {
  asm volatile("" : "+v"(value));
}

// `rounds` steps of each of `chains` values that do not wait for each other.
template <int chains, class Step>
void runChains(long rounds, Step step) {
  Lanes chain[chains], a = Lanes{} + 0.5F, b = Lanes{} + 1.0F;
  keep(a), keep(b);
  for (Lanes& value : chain) value = a, keep(value);
  for (long i = 0; i < rounds; ++i)
    for (Lanes& value : chain) value = step(value, a, b);
  for (Lanes& value : chain) keep(value);
}

Lanes multiplyAdd(Lanes sum, Lanes a, Lanes b) { return sum * a + b; }
Lanes divide(Lanes sum, Lanes a, Lanes) { return sum / a; }

}  // namespace

extern "C" {

// Vector multiply-adds: each waiting for the one before, and twelve that do not.
void fma_latency(long rounds) { runChains<1>(rounds, multiplyAdd); }
void fma_throughput(long rounds) { runChains<12>(rounds, multiplyAdd); }
void divide_throughput(long rounds) { runChains<8>(rounds, divide); }
int vector_lanes() { return kLanes; }

// One scalar addition per round waits for the one before, which takes one cycle, while vectors run beside it.
void clock_under_vectors(long rounds) {
  Lanes first{}, second{}, a = Lanes{} + 0.5F, b = Lanes{} + 1.0F;
  long cycles = 0, one = 1;
  keep(a), keep(b);
  asm volatile("" : "+r"(one));
  for (long i = 0; i < rounds; i += 8) {
    asm volatile("add %1, %0; add %1, %0; add %1, %0; add %1, %0; add %1, %0; add %1, %0; add %1, %0; add %1, %0"
                 : "+r"(cycles)
                 : "r"(one));
    first = multiplyAdd(first, a, b), second = multiplyAdd(second, a, b);
    keep(first), keep(second);
  }
}

// Whole lines of an array, one after the other.
void read_lines(const float* from, size_t bytes, long times) {
  for (long pass = 0; pass < times; ++pass) {
    Lanes sum[8] = {};
    for (size_t i = 0; i + 8 * kLanes <= bytes / 4; i += 8 * kLanes)
      for (size_t k = 0; k < 8; ++k) sum[k] += *reinterpret_cast<const Unaligned*>(from + i + kLanes * k);
    for (Lanes& value : sum) keep(value);
  }
}
void write_lines(float* to, size_t bytes, long times) {
  for (long pass = 0; pass < times; ++pass)
    for (size_t i = 0; i < bytes / 4; i += kLanes) {
      Lanes value = Lanes{} + 1.0F;
      keep(value);
      *reinterpret_cast<Unaligned*>(to + i) = value;
    }
}
// One element of every line, `stride` elements apart.
void read_strided(const float* from, size_t bytes, size_t stride, long times) {
  for (long pass = 0; pass < times; ++pass) {
    float sum[4] = {};
    for (size_t i = 0; i + 4 * stride <= bytes / 4; i += 4 * stride)
      for (size_t k = 0; k < 4; ++k) sum[k] += from[i + k * stride];
    for (float& value : sum) keep(value);
  }
}

#if defined(__AVX512F__)
// 16 lanes at addresses of their own, in the first level cache, and stored to such.
void gather(const float* from, long rounds) {
  __m512i index =
      _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi32(17));
  for (long i = 0; i < rounds; ++i) {
    asm volatile("" : "+v"(index));
    __m512 value = _mm512_i32gather_ps(index, from, 4);
    asm volatile("" : "+v"(value));
  }
}
void scatter(float* to, long rounds) {
  __m512i index =
      _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi32(17));
  __m512 value = _mm512_set1_ps(1);
  for (long i = 0; i < rounds; ++i) {
    asm volatile("" : "+v"(index), "+v"(value) : : "memory");
    _mm512_i32scatter_ps(to, index, value, 4);
  }
}
void masked_load(const float* from, long rounds) {
  __mmask16 mask = 0x7fff;
  asm volatile("" : "+k"(mask));
  for (long i = 0; i < rounds; ++i) {
    __m512 value = _mm512_maskz_loadu_ps(mask, from + (i & 7) * 16);
    asm volatile("" : "+v"(value));
  }
}
void masked_store(float* to, long rounds) {
  __mmask16 mask = 0x7fff;
  __m512 value = _mm512_set1_ps(1);
  asm volatile("" : "+k"(mask), "+v"(value));
  for (long i = 0; i < rounds; ++i) {
    _mm512_mask_storeu_ps(to + (i & 7) * 16, mask, value);
    asm volatile("" : : : "memory");
  }
}
#endif
}
