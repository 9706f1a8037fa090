#include "support/text.h"

#include <algorithm>
#include <cstdio>

#include "support/hex.h"
#include "support/utf8.h"

namespace svod {

std::string shortened(std::string text, size_t longest) {
  if (text.size() <= longest) return text;
  while (longest > 0 && isInsideCharacter(text[longest])) --longest;
  text.resize(longest);
  text += "..";
  return text;
}

namespace {

/// Characters that are not seen and change what is: controls of the second block, marks and ends of directions, ends of
/// lines and paragraphs, invisible ones, tags.
struct CodePoints {
  uint32_t first, last;
};
constexpr CodePoints kUnseen[] = {{0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},    {0x180e, 0x180e},
                                  {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                                  {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

bool isUnseen(uint32_t c) {
  return std::ranges::any_of(kUnseen, [&](const CodePoints& p) { return p.first <= c && c <= p.last; });
}

/// Of a well-formed character.
uint32_t codePoint(std::string_view character) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(character[i])); };
  if (character.size() == 1) return byte(0);
  uint32_t code = byte(0) & (0x7fU >> character.size());
  for (size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3fU);
  return code;
}

void appendByte(std::string& out, char c) {
  out += "\\x";
  appendHex(out, static_cast<uint8_t>(c));
}

void appendControl(std::string& out, char c) {
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else {
    appendByte(out, c);
  }
}

bool isPlainAscii(char c) { return c >= ' ' && c < 0x7f; }

}  // namespace

std::string printable(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = firstCharacter(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(character.size());
    const char c = character[0];
    const uint32_t code = length == 0 ? 0 : codePoint(character);
    if (isPlainAscii(c) || (lines == Lines::Kept && (c == '\n' || c == '\t'))) {
      out += c;
    } else if (length == 1) {
      appendControl(out, c);
    } else if (length == 0) {
      appendByte(out, c);
    } else if (isUnseen(code)) {
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\u{%x}", code);
      out += escape;
    } else {
      out += character;
    }
  }
  return out;
}

std::string shellWord(std::string_view word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  text += "'";
  return text;
}

}  // namespace svod
