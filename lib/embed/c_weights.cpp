#include <cstring>

#include "embed/c_parts.h"

namespace svod {

namespace {

constexpr size_t kWordsPerLine = 6;

/// Bytes of several chunks as words of eight, the first byte lowest.
class Words {
 public:
  explicit Words(std::string& text) : text_(text) {}

  void add(std::span<const std::byte> bytes) {
    for (std::byte b : bytes) {
      word_ |= std::to_integer<uint64_t>(b) << (8 * filled_);
      if (++filled_ == 8) flush();
    }
  }
  void finish(uint64_t words) {
    while (filled_ > 0 || count_ < words) flush();
  }

 private:
  void flush() {
    static constexpr char kDigits[] = "0123456789abcdef";
    char digits[18];
    size_t at = sizeof digits;
    do digits[--at] = kDigits[word_ & 15], word_ >>= 4;
    while (word_ != 0);
    digits[--at] = 'x', digits[--at] = '0';
    text_ += count_ % kWordsPerLine == 0 ? "\n    " : " ";
    text_.append(digits + at, sizeof digits - at);
    text_ += ",";
    filled_ = 0, count_++;
  }

  std::string& text_;
  uint64_t word_ = 0, count_ = 0;
  unsigned filled_ = 0;
};

}  // namespace

std::string weightsText(const Interface& made, std::span<const std::span<const std::byte>> chunks) {
  if (made.weightBytes == 0 || made.hasWeightsParameter()) return {};
  const uint64_t words = (made.weightBytes + 7) / 8;
  std::string text =
      "#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
      "#error \"the weights are for processors whose lowest byte comes first\"\n#endif\n";
  if (made.weights.kind == WeightsPlace::Kind::Section)
    text += "#if defined(__GNUC__)\n__attribute__((section(\"" + made.weights.section + "\")))\n#endif\n";
  text += "static const _Alignas(64) uint64_t svod_weights[" + std::to_string(words) + "] = {";
  Words writer(text);
  for (std::span<const std::byte> chunk : chunks) writer.add(chunk);
  writer.finish(words);
  return text + "\n};\n\n";
}

}  // namespace svod
