#include "report/html_text.h"

#include <cstdio>

#include "support/text.h"

namespace svod::detail {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : printable(text, Lines::Kept)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string pixels(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f", value);
  return buffer;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = i; k < i + 3; ++k) word = word << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string svgLine(std::string_view kind, Pixel from, Pixel to) {
  return "<line class=\"" + std::string(kind) + "\" x1=\"" + pixels(from.x) + "\" y1=\"" + pixels(from.y) + "\" x2=\"" +
         pixels(to.x) + "\" y2=\"" + pixels(to.y) + "\"/>";
}

std::string svgText(std::string_view kind, Pixel at, std::string_view text) {
  return "<text class=\"" + std::string(kind) + "\" x=\"" + pixels(at.x) + "\" y=\"" + pixels(at.y) + "\">" +
         escaped(text) + "</text>";
}

}  // namespace svod::detail
