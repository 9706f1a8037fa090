#include "plan/json_tape.h"

#include <charconv>

#include "support/utf8.h"

namespace svod {

namespace {

constexpr int kMostLevels = 64;
constexpr uint64_t kMostMembers = 1000;  // each is compared with all before it

bool isDigit(char c) { return c >= '0' && c <= '9'; }

void appendUtf8(uint32_t code, std::vector<char>& out) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  put(kFirst[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; i--) put(0x80 | (code >> (6 * i) & 0x3f));
}

}  // namespace

/// Each function leaves `at_` behind what it read, and is false where the text is wrong.
class JsonParser {
 public:
  JsonParser(std::string_view text, JsonTape& tape) : at_(text.data()), end_(at_ + text.size()), tape_(tape) {}

  bool document() { return value(kMostLevels) && (space(), at_ == end_); }

 private:
  void space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) at_++;
  }
  bool take(char c) {
    space();
    return at_ < end_ && *at_ == c && (at_++, true);
  }
  bool word(std::string_view text) {
    if (!std::string_view(at_, end_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  JsonToken& add(JsonType type) {
    const auto next = static_cast<uint32_t>(tape_.tokens_.size() + 1);
    return tape_.tokens_.emplace_back(JsonToken{type, false, next, 0, nullptr});
  }

  bool value(int levels) {
    space();
    if (at_ == end_ || levels == 0) return false;
    switch (*at_) {
      case '{': return container(JsonType::Object, '}', levels);
      case '[': return container(JsonType::Array, ']', levels);
      case '"': return string();
      case 'n': return add(JsonType::Null), word("null");
      case 't': return add(JsonType::Bool).number = 1, word("true");
      case 'f': return add(JsonType::Bool), word("false");
      default: return number();
    }
  }

  bool container(JsonType type, char close, int levels) {
    const auto self = static_cast<uint32_t>(tape_.tokens_.size());
    uint64_t count = 0;
    add(type);
    at_++;
    if (!take(close)) {
      do {
        if (type == JsonType::Object && (count == kMostMembers || !member(self))) return false;
        if (!value(levels - 1)) return false;
        count++;
      } while (take(','));
      if (!take(close)) return false;
    }
    tape_.tokens_[self].number = count;
    tape_.tokens_[self].end = static_cast<uint32_t>(tape_.tokens_.size());
    return true;
  }

  /// The name and the colon of a member of the object at `object`, which has none of that name.
  bool member(uint32_t object) {
    space();
    const auto self = static_cast<uint32_t>(tape_.tokens_.size());
    tape_.tokens_[object].end = self;
    if (at_ == end_ || *at_ != '"' || !string()) return false;
    return tape_.find(object, tape_.text(self)) == 0 && take(':');
  }

  bool string() {
    const char* const begin = ++at_;
    while (at_ < end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= ' ') at_++;
    if (at_ == end_) return false;
    if (*at_ == '"') return finish(begin, at_++);
    std::vector<char>& whole = tape_.unescaped_.emplace_back(begin, at_);
    while (at_ < end_ && *at_ != '"') {
      if (static_cast<unsigned char>(*at_) < ' ') return false;
      if (*at_ != '\\')
        whole.push_back(*at_++);
      else if (!escape(whole))
        return false;
    }
    return at_ < end_ && (at_++, finish(whole.data(), whole.data() + whole.size()));
  }
  bool finish(const char* begin, const char* end) {
    JsonToken& token = add(JsonType::String);
    token.text = begin;
    token.number = static_cast<uint64_t>(end - begin);
    return true;
  }
  bool escape(std::vector<char>& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (++at_ == end_) return false;
    const char letter = *at_++;
    if (const size_t known = kLetters.find(letter); known != kLetters.npos) return out.push_back(kMeant[known]), true;
    uint32_t code = 0, low = 0;
    if (letter != 'u' || !hex(code) || (code >= 0xdc00 && code < 0xe000)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!word("\\u") || !hex(low) || low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return appendUtf8(code, out), true;
  }
  bool hex(uint32_t& code) {
    if (end_ - at_ < 4) return false;
    const auto [stop, error] = std::from_chars(at_, at_ + 4, code, 16);
    const bool isWhole = error == std::errc() && stop == at_ + 4;
    at_ += 4;
    return isWhole;
  }

  bool number() {
    JsonToken& token = add(JsonType::Integer);
    token.isNegative = *at_ == '-';
    if (token.isNegative) at_++;
    const char* const digits = token.text = at_;
    while (at_ < end_ && isDigit(*at_)) at_++;
    if (at_ == digits || (*digits == '0' && at_ - digits > 1)) return false;
    const char* const behind = at_;
    if (at_ < end_ && *at_ == '.' && (at_++, !moreDigits())) return false;
    if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
      at_++;
      if (at_ < end_ && (*at_ == '+' || *at_ == '-')) at_++;
      if (!moreDigits()) return false;
    }
    if (at_ != behind) return token.type = JsonType::Real, true;
    return std::from_chars(digits, at_, token.number).ec == std::errc();
  }
  bool moreDigits() {
    const char* const begin = at_;
    while (at_ < end_ && isDigit(*at_)) at_++;
    return at_ != begin;
  }

  const char *at_, *end_;
  JsonTape& tape_;
};

std::optional<JsonTape> JsonTape::parse(std::string_view text) {
  std::optional<JsonTape> tape(std::in_place);
  if (text.size() > UINT32_MAX || firstNotUtf8(text) || !JsonParser(text, *tape).document()) return std::nullopt;
  return tape;
}

uint32_t JsonTape::find(uint32_t at, std::string_view name) const {
  for (uint32_t member = at + 1; member < tokens_[at].end; member = tokens_[member + 1].end)
    if (text(member) == name) return member + 1;
  return 0;
}

}  // namespace svod
