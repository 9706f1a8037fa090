// What an error says, made of parts in one call: the code that describes errors stays small, however many parts there
// are.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace svod {

/// A text below 4 GiB, or a whole number in decimal. Texts are borrowed for the call. Messages are made in many places,
/// and each is as large as its parts are.
class Part {
 public:
  Part(const char* text) : Part(std::string_view(text)) {}
  Part(std::string_view text) : text_(text.data()), size_(static_cast<uint32_t>(text.size())) {}
  Part(const std::string& text) : Part(std::string_view(text)) {}
  Part(char) = delete;
  Part(bool) = delete;
  template <std::signed_integral Number>
  Part(Number number)
      : magnitude_(number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number)),
        kind_(number < 0 ? Kind::Negative : Kind::Number) {}
  template <class Number>
    requires std::unsigned_integral<Number> || (std::is_class_v<Number> && std::convertible_to<Number, uint32_t>)
  Part(Number number) : magnitude_(number), kind_(Kind::Number) {}

  void addTo(std::string& text) const;

 private:
  enum class Kind : uint32_t { Text, Number, Negative };
  union {
    const char* text_;
    uint64_t magnitude_;
  };
  uint32_t size_ = 0;
  Kind kind_ = Kind::Text;
};

/// `says({"axis ", axis, " of '", name, "'"})`
std::string says(std::initializer_list<Part> parts);

}  // namespace svod
