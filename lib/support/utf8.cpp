#include "support/utf8.h"

#include <algorithm>
#include <cstdint>

#include "support/hex.h"

namespace svod {

namespace {

/// The well-formed sequences by their first byte: the length, and the range of the second byte.
struct Sequence {
  uint8_t first, last, length, secondMin, secondMax;
};
constexpr Sequence kSequences[] = {
    {0x00, 0x7f, 1, 0x00, 0x00}, {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

uint8_t byteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

}  // namespace

size_t firstCharacter(std::string_view text) {
  const uint8_t first = byteAt(text, 0);
  const auto* row =
      std::ranges::find_if(kSequences, [&](const Sequence& s) { return s.first <= first && first <= s.last; });
  if (row == std::end(kSequences) || text.size() < row->length) return 0;
  if (row->length > 1 && (byteAt(text, 1) < row->secondMin || byteAt(text, 1) > row->secondMax)) return 0;
  for (size_t i = 2; i < row->length; i++)
    if (byteAt(text, i) >> 6 != 2) return 0;
  return row->length;
}

std::optional<size_t> firstNotUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = byteAt(text, at) < 0x80 ? 1 : firstCharacter(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string notUtf8Text(std::string_view text, size_t offset) {
  std::string out = "byte 0x";
  appendHex(out, byteAt(text, offset));
  return out + " is not UTF-8";
}

std::string toUtf8(std::string_view text) {
  std::string out;
  while (const std::optional<size_t> bad = firstNotUtf8(text)) {
    out += text.substr(0, *bad);
    out += "\xef\xbf\xbd";
    text.remove_prefix(*bad + 1);
  }
  return out += text;
}

}  // namespace svod
