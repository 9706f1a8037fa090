// UTF-8: the encoding of every name in graph files, models and plans.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace svod {

/// Offset of the first byte that no well-formed UTF-8 text has there: also of an overlong form, of half a surrogate
/// pair and of what lies above U+10FFFF.
std::optional<size_t> firstNotUtf8(std::string_view text);

/// Bytes of the well-formed character that a text, which is not empty, begins with; 0 where there is none.
size_t firstCharacter(std::string_view text);

/// Whether a byte goes on a character that an earlier one began.
inline bool isInsideCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// "byte 0xff is not UTF-8", of the byte at that offset.
std::string notUtf8Text(std::string_view text, size_t offset);

/// With U+FFFD in place of every byte that is not UTF-8.
std::string toUtf8(std::string_view text);

}  // namespace svod
