// What the lanes of a warp do together. Where each lane has its elements is as the PTX manual says it, not as the
// compiler's table does.
#include <bit>
#include <cmath>

#include "cuda_grid/meet.h"

namespace svod {

namespace {

constexpr int kRows = 16, kColumns = 8, kMostTerms = 32;

float half(uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
float bfloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// The value of eight bits with so many of the exponent; `hasInfinity` as e5m2 has it, without it only NaN is special.
float small(uint8_t bits, int exponentBits, bool hasInfinity) {
  const int digits = 7 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  const int exponent = bits >> digits & ((1 << exponentBits) - 1), fraction = bits & ((1 << digits) - 1);
  const float sign = bits & 0x80 ? -1.0F : 1.0F;
  const bool isTop = exponent == (1 << exponentBits) - 1;
  if (hasInfinity && isTop) return fraction == 0 ? sign * INFINITY : NAN;
  if (isTop && fraction == (1 << digits) - 1) return NAN;
  const float value = static_cast<float>(fraction) / static_cast<float>(1 << digits);
  return sign * (exponent == 0 ? std::ldexp(value, 1 - bias) : std::ldexp(1 + value, exponent - bias));
}

/// To 10 digits behind the first, ties away from zero.
float tf32(float x) {
  if (!std::isfinite(x)) return x;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(x) + 0x1000U) & ~0x1FFFU);
}

struct Core {
  const char* name;
  int terms;   // k
  int inBits;  // of an element of a and b
  bool hasHalfSum;
  float (*value)(uint32_t bits);
};
constexpr Core kCores[] = {
    {"m16n8k32_f8e4m3_f32", 32, 8, false, [](uint32_t b) { return small(static_cast<uint8_t>(b), 4, false); }},
    {"m16n8k32_f8e5m2_f32", 32, 8, false, [](uint32_t b) { return small(static_cast<uint8_t>(b), 5, true); }},
    {"m16n8k16_f16_f32", 16, 16, false, [](uint32_t b) { return half(static_cast<uint16_t>(b)); }},
    {"m16n8k16_bf16_f32", 16, 16, false, [](uint32_t b) { return bfloat(static_cast<uint16_t>(b)); }},
    {"m16n8k16_f16_f16", 16, 16, true, [](uint32_t b) { return half(static_cast<uint16_t>(b)); }},
    {"m16n8k8_f16_f32", 8, 16, false, [](uint32_t b) { return half(static_cast<uint16_t>(b)); }},
    {"m16n8k8_f16_f16", 8, 16, true, [](uint32_t b) { return half(static_cast<uint16_t>(b)); }},
    {"m16n8k8_tf32_f32", 8, 32, false, [](uint32_t b) { return tf32(std::bit_cast<float>(b)); }},
};

/// Of the words a lane gives: element i.
uint32_t element(const void* words, int i, int bits) {
  const uint32_t word = static_cast<const uint32_t*>(words)[i * bits / 32];
  return bits == 32 ? word : word >> (i * bits % 32) & ((1U << bits) - 1);
}

struct Factors {
  float a[kRows][kMostTerms], b[kMostTerms][kColumns];
};

/// The manual's figures of m16n8k8, k16 and k32: a word holds neighbours along k; words of a go down by 8 rows first.
void place(const Core& core, int lane, const void* a, const void* b, Factors& to) {
  const int each = 32 / core.inBits, row = lane / 4, quarter = lane % 4;
  for (int i = 0; i < kRows * core.terms / 32; ++i) {
    const int word = i / each;
    to.a[row + word % 2 * 8][quarter * each + i % each + word / 2 * 4 * each] = core.value(element(a, i, core.inBits));
  }
  for (int i = 0; i < kColumns * core.terms / 32; ++i)
    to.b[quarter * each + i % each + i / each * 4 * each][row] = core.value(element(b, i, core.inBits));
}

}  // namespace

void EmulatedGrid::mma(const char* name, const void* a, const void* b, const void* c, void* out) {
  const auto* core = std::ranges::find_if(kCores, [&](const Core& row) { return std::strcmp(row.name, name) == 0; });
  if (core == std::end(kCores)) fault("no tensor core " + std::string(name));
  meetWarp(name, {current_, a, b, c, out}, true, [&](std::span<const Part> lanes) {
    static thread_local Factors factors;
    for (int lane = 0; lane < 32; ++lane)
      place(*core, lane, lanes[static_cast<size_t>(lane)].a, lanes[static_cast<size_t>(lane)].b, factors);
    for (int lane = 0; lane < 32; ++lane) {
      const Part& part = lanes[static_cast<size_t>(lane)];
      for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        float sum =
            core->hasHalfSum ? half(static_cast<const uint16_t*>(part.c)[i]) : static_cast<const float*>(part.c)[i];
        for (int k = 0; k < core->terms; ++k) sum += factors.a[row][k] * factors.b[k][column];
        if (core->hasHalfSum)
          static_cast<uint16_t*>(part.out)[i] = std::bit_cast<uint16_t>(static_cast<_Float16>(sum));
        else
          static_cast<float*>(part.out)[i] = sum;
      }
    }
  });
}

void EmulatedGrid::shuffle(uint32_t mask, uint32_t named, const void* value, uint32_t bytes, void* out) {
  meetWarp("a shuffle", {current_, value, nullptr, nullptr, out}, false, [&](std::span<const Part> lanes) {
    if (named != (uint64_t{1} << lanes.size()) - 1) fault("DIVERGENCE: a shuffle names other lanes than there are");
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      const size_t other = lane ^ mask;
      if (other >= lanes.size()) fault("DIVERGENCE: a shuffle with a lane that is not there");
      std::memcpy(lanes[lane].out, lanes[other].a, bytes);
    }
  });
}

void EmulatedGrid::matrices(int count, bool isTransposed, const void* row, uint32_t* out) {
  const char* what = isTransposed ? "ldmatrix.trans" : "ldmatrix";
  meetWarp(what, {current_, row, nullptr, nullptr, out}, true, [&](std::span<const Part> lanes) {
    for (int m = 0; m < count; ++m) {
      uint16_t elements[8][8];
      for (int r = 0; r < 8; ++r) {
        const Part& part = lanes[static_cast<size_t>(m * 8 + r)];
        touchShared(part.a, 16, false, accessOf(*part.thread), what);
        std::memcpy(elements[r], part.a, 16);
      }
      for (int lane = 0; lane < 32; ++lane) {
        const int r = lane / 4, e = lane % 4 * 2;
        const uint32_t low = isTransposed ? elements[e][r] : elements[r][e];
        const uint32_t high = isTransposed ? elements[e + 1][r] : elements[r][e + 1];
        static_cast<uint32_t*>(lanes[static_cast<size_t>(lane)].out)[m] = low | high << 16;
      }
    }
  });
}

}  // namespace svod
