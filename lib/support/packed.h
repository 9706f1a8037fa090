// Elements of 2 or 4 bits that share bytes, the first one in the low bits: the memory of ports, and ONNX files. The
// other form of such elements is a code each: a byte whose low bits count.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace svod {

/// The low `bits` of each code. What is left of the last byte is 0.
std::vector<std::byte> packCodes(int bits, std::span<const std::byte> codes);

/// `count` codes. The other bits of a code are 0, or with `isSigned` copies of its highest bit.
std::vector<std::byte> unpackCodes(int bits, bool isSigned, std::span<const std::byte> memory, uint64_t count);

inline uint8_t codeAt(int bits, const std::byte* memory, uint64_t i) {
  const uint64_t each = 8 / static_cast<unsigned>(bits);
  const unsigned shift = static_cast<unsigned>(i % each) * static_cast<unsigned>(bits);
  return static_cast<uint8_t>((std::to_integer<unsigned>(memory[i / each]) >> shift) & ((1u << bits) - 1));
}

}  // namespace svod
