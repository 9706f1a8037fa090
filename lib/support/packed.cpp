#include "support/packed.h"

namespace svod {

std::vector<std::byte> packCodes(int bits, std::span<const std::byte> codes) {
  const size_t each = 8 / static_cast<unsigned>(bits);
  const unsigned mask = (1u << bits) - 1;
  std::vector<std::byte> memory((codes.size() + each - 1) / each);
  for (size_t i = 0; i < codes.size(); i++)
    memory[i / each] |= static_cast<std::byte>((std::to_integer<unsigned>(codes[i]) & mask) << (i % each * bits));
  return memory;
}

std::vector<std::byte> unpackCodes(int bits, bool isSigned, std::span<const std::byte> memory, uint64_t count) {
  std::vector<std::byte> codes(count);
  const unsigned sign = isSigned ? 1u << (bits - 1) : 0;
  for (uint64_t i = 0; i < count; i++)
    codes[i] = static_cast<std::byte>((codeAt(bits, memory.data(), i) ^ sign) - sign);
  return codes;
}

}  // namespace svod
