// FIPS 180-4.
#include "data/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "support/hex.h"

namespace svod {

namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t bigEndian(const std::byte* at) {
  return static_cast<uint32_t>(at[0]) << 24 | static_cast<uint32_t>(at[1]) << 16 | static_cast<uint32_t>(at[2]) << 8 |
         static_cast<uint32_t>(at[3]);
}

/// One round. The caller rotates the roles of the eight words instead of moving them.
inline void mixRound(uint32_t a, uint32_t b, uint32_t c, uint32_t& d, uint32_t e, uint32_t f, uint32_t g, uint32_t& h,
                     uint32_t input) {
  const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
  const uint32_t t1 = h + s1 + (g ^ (e & (f ^ g))) + input;
  const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
  d += t1;
  h = t1 + s0 + ((a & b) | (c & (a | b)));
}

void compress(uint32_t* state, const std::byte* data, size_t blocks, Sha256Compress fast) {
  if (fast != nullptr) return fast(state, data, blocks, kRound);
  for (; blocks > 0; blocks--, data += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++) w[i] = bigEndian(data + 4 * i);
    for (int i = 16; i < 64; i++) {
      const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i += 8) {
      mixRound(a, b, c, d, e, f, g, h, kRound[i] + w[i]);
      mixRound(h, a, b, c, d, e, f, g, kRound[i + 1] + w[i + 1]);
      mixRound(g, h, a, b, c, d, e, f, kRound[i + 2] + w[i + 2]);
      mixRound(f, g, h, a, b, c, d, e, kRound[i + 3] + w[i + 3]);
      mixRound(e, f, g, h, a, b, c, d, kRound[i + 4] + w[i + 4]);
      mixRound(d, e, f, g, h, a, b, c, kRound[i + 5] + w[i + 5]);
      mixRound(c, d, e, f, g, h, a, b, kRound[i + 6] + w[i + 6]);
      mixRound(b, c, d, e, f, g, h, a, kRound[i + 7] + w[i + 7]);
    }
    const uint32_t mixed[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) state[i] += mixed[i];
  }
}

}  // namespace

void Sha256::update(std::span<const std::byte> bytes) {
  size_t used = total_ % 64;
  total_ += bytes.size();
  if (used > 0) {
    size_t take = std::min(bytes.size(), 64 - used);
    std::copy_n(bytes.begin(), take, block_.begin() + static_cast<ptrdiff_t>(used));
    bytes = bytes.subspan(take);
    if (used + take < 64) return;
    compress(state_.data(), block_.data(), 1, fast_);
  }
  compress(state_.data(), bytes.data(), bytes.size() / 64, fast_);
  std::copy(bytes.end() - static_cast<ptrdiff_t>(bytes.size() % 64), bytes.end(), block_.begin());
}

std::string Sha256::finish() {
  const uint64_t bits = total_ * 8;
  std::byte padding[72] = {std::byte{0x80}};
  size_t zeros = (119 - total_ % 64) % 64;
  for (size_t i = 0; i < 8; i++) padding[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  update(std::span(padding, 9 + zeros));
  std::string hex;
  for (uint32_t word : state_)
    for (int shift = 24; shift >= 0; shift -= 8) appendHex(hex, static_cast<uint8_t>(word >> shift));
  return hex;
}

std::string sha256Hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}
std::string sha256Hex(std::string_view text) { return sha256Hex(std::as_bytes(std::span(text.data(), text.size()))); }

}  // namespace svod
