// The values of a JSON text in the order of the text: what reading plan.json needs, without a library in the runtime.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svod {

enum class JsonType : uint8_t { Null, Bool, Integer, Real, String, Array, Object };

/// One value. An Array is followed by its elements, an Object by the name (a String) and the value of each member; what
/// comes behind them is at `end`.
struct JsonToken {
  JsonType type = JsonType::Null;
  bool isNegative = false;     // Integer
  uint32_t end = 0;            // index of the token behind the value
  uint64_t number = 0;         // Integer: its amount; Array, Object: how many elements or members; String: bytes
  const char* text = nullptr;  // String; Integer: its digits in the text
};

class JsonTape {
 public:
  /// Nothing when `text`, which is borrowed, is no JSON: also for bytes that are not UTF-8, integers beyond 64 bits,
  /// more than 64 levels or 1000 members of an object, and members of one name.
  static std::optional<JsonTape> parse(std::string_view text);

  const JsonToken& operator[](uint32_t at) const { return tokens_[at]; }
  std::string_view text(uint32_t at) const { return {tokens_[at].text, static_cast<size_t>(tokens_[at].number)}; }
  /// The value of a member of the object at `at`; 0, which is no member's place, when there is none.
  uint32_t find(uint32_t at, std::string_view name) const;

 private:
  friend class JsonParser;
  std::vector<JsonToken> tokens_;
  std::vector<std::vector<char>> unescaped_;  // strings that the text holds with escapes
};

}  // namespace svod
