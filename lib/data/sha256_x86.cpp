#include "data/sha256_x86.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

namespace svod {

namespace {

#define SVOD_SHA __attribute__((target("sha,ssse3,sse4.1")))

/// Four rounds with four inputs that have their constants added.
SVOD_SHA inline void fourRounds(__m128i& abef, __m128i& cdgh, __m128i input) {
  cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
  abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
}

/// The next four inputs, from the sixteen before.
SVOD_SHA inline __m128i nextInputs(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
  const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
  return _mm_sha256msg2_epu32(sum, w3);
}

SVOD_SHA void compressBlocks(uint32_t* state, const std::byte* data, size_t blocks, const uint32_t* round) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto load = [](const void* at) SVOD_SHA { return _mm_loadu_si128(static_cast<const __m128i*>(at)); };
  // The instructions want the words as a, b, e, f and c, d, g, h.
  const __m128i badc = _mm_shuffle_epi32(load(state), 0xb1), hgfe = _mm_shuffle_epi32(load(state + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (; blocks > 0; blocks--, data += 64) {
    const __m128i abefBefore = abef, cdghBefore = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++) {
      w[i] = _mm_shuffle_epi8(load(data + 16 * i), swap);
      fourRounds(abef, cdgh, _mm_add_epi32(w[i], load(round + 4 * i)));
    }
    for (int i = 4; i < 16; i += 4)
      for (int j = 0; j < 4; j++) {
        w[j] = nextInputs(w[j], w[(j + 1) % 4], w[(j + 2) % 4], w[(j + 3) % 4]);
        fourRounds(abef, cdgh, _mm_add_epi32(w[j], load(round + 4 * (i + j))));
      }
    abef = _mm_add_epi32(abef, abefBefore);
    cdgh = _mm_add_epi32(cdgh, cdghBefore);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace

Sha256Compress sha256Instructions() {
  constexpr unsigned kSha = 1u << 29, kSsse3 = 1u << 9, kSse41 = 1u << 19;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kSha) == 0) return nullptr;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3) == 0 || (c & kSse41) == 0) return nullptr;
  return compressBlocks;
}

}  // namespace svod

#else

namespace svod {
Sha256Compress sha256Instructions() { return nullptr; }
}  // namespace svod

#endif
