// Bytes as hexadecimal text.
#pragma once
#include <cstdint>
#include <string>

namespace svod {

inline constexpr char kHexDigits[] = "0123456789abcdef";

/// Two lower-case digits.
inline void appendHex(std::string& out, uint8_t byte) { out += {kHexDigits[byte >> 4], kHexDigits[byte & 15]}; }

}  // namespace svod
