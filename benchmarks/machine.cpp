// What the machine can do at best, on some threads: its bandwidth and its arithmetic. Built by machine.py.
#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

typedef float Vector __attribute__((vector_size(64)));

template <class Body>
void onThreads(int threads, size_t bytes, Body body) {
  std::vector<std::thread> workers;
  size_t part = bytes / static_cast<size_t>(threads) / 64 * 64;
  for (int t = 1; t < threads; ++t) workers.emplace_back([=] { body(static_cast<size_t>(t) * part, part); });
  body(0, part);
  for (std::thread& w : workers) w.join();
}

// As wide as registers are: a wider one would be taken apart and leave too few registers.
#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(4 * kLanes)));

// Enough for two ports with a latency of five cycles, and they fit into 16 registers.
constexpr int kChains = 12;

// `step` on independent chains. The compiler may neither know an operand, for equal chains would become one, nor drop a
// result.
template <class Value, class Step>
void runChains(long rounds, Value left, Value right, Step step) {
  Value chain[kChains] = {};
  asm volatile("" : "+v"(left), "+v"(right));
  for (Value& value : chain) asm volatile("" : "+v"(value));
  for (long i = 0; i < rounds; ++i)
    for (Value& value : chain) value = step(value, left, right);
  for (Value& value : chain) asm volatile("" : : "v"(value));
}

}  // namespace

extern "C" {

// Multiplications and additions of `rounds` rounds on every thread.
double multiply_add(long rounds, int threads) {
  onThreads(threads, 64 * static_cast<size_t>(threads), [=](size_t, size_t) {
    runChains(rounds, Lanes{} + 0.5F, Lanes{} + 1.0F, [](Lanes sum, Lanes a, Lanes b) { return sum * a + b; });
  });
  return 2.0 * kLanes * kChains * static_cast<double>(rounds) * threads;
}

// The same of u8 times i8, summed in i32; 0 where the processor has no instruction for it.
double multiply_add_bytes(long rounds, int threads) {
#if defined(__AVX512VNNI__)
  onThreads(threads, 64 * static_cast<size_t>(threads), [=](size_t, size_t) {
    runChains(rounds, _mm512_set1_epi8(3), _mm512_set1_epi8(1), [](__m512i sum, __m512i a, __m512i b) {
      asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));  // GCC 12 copies every sum of the intrinsic twice
      return sum;
    });
  });
  return 2.0 * 64 * kChains * static_cast<double>(rounds) * threads;
#else
  return 0.0 * static_cast<double>(rounds) * threads;
#endif
}

// Reads `count` arrays and writes one of the same bytes with non-temporal stores: the least time a streaming kernel
// with as many operands can take.
void stream_write(const float* const* from, int count, float* to, size_t bytes, int threads) {
  onThreads(threads, bytes, [=](size_t begin, size_t length) {
    for (size_t i = begin / 4; i < (begin + length) / 4; i += 16) {
      Vector sum = *reinterpret_cast<const Vector*>(from[0] + i);
      for (int k = 1; k < count; ++k) sum += *reinterpret_cast<const Vector*>(from[k] + i);
      for (int part = 0; part < 4; ++part)
        _mm_stream_ps(to + i + 4 * part, reinterpret_cast<const __m128*>(&sum)[part]);
    }
    _mm_sfence();
  });
}

// Every thread reads its part of an array `times` times.
float stream_read(const float* from, size_t bytes, int threads, long times) {
  std::vector<Vector> sums(static_cast<size_t>(threads));
  onThreads(threads, bytes, [&, from](size_t begin, size_t length) {
    Vector sum[4] = {};
    for (long pass = 0; pass < times; ++pass) {
      for (size_t i = begin / 4; i + 64 <= (begin + length) / 4; i += 64)
        for (size_t k = 0; k < 4; ++k) sum[k] += *reinterpret_cast<const Vector*>(from + i + 16 * k);
      asm volatile("" : : : "memory");  // it is read again
    }
    sums[begin / std::max<size_t>(length, 1)] = sum[0] + sum[1] + sum[2] + sum[3];
  });
  float total = 0;
  for (const Vector& sum : sums)
    for (int lane = 0; lane < 16; ++lane) total += sum[lane];
  return total;
}
}
