#include "data/sha256.h"
#include "plan/fields.h"
#include "plan/json.h"
#include "support/hex.h"

namespace svod {

namespace {

/// Writes members as text: one line per member of the plan, and one per element of its lists of objects.
class Writer {
 public:
  template <class T>
  void operator()(std::string_view key, const T& value) {
    begin(key);
    write(value);
  }
  template <class Row>
  void operator()(std::string_view key, const std::optional<Id<Row>>& value) {
    if (value) (*this)(key, *value);
  }
  template <class T, class Variant>
  void choice(std::string_view key, const Variant& value) {
    if (const T* held = std::get_if<T>(&value)) (*this)(key, *held);
  }
  template <class T>
  void unlessEmpty(std::string_view key, const std::vector<T>& values) {
    if (!values.empty()) (*this)(key, values);
  }
  template <class T>
  void mayHave(std::string_view, const std::optional<T>&) {}
  void useNames(std::span<const std::string> names) { names_ = names; }

  std::string plan(const Plan& plan) {
    out_ = std::string(kPlanJsonStart) + std::string(64, '0') + "\"";
    first_ = false;
    detail::fields(*this, const_cast<Plan&>(plan));
    return std::move(out_) + "\n}\n";
  }

 private:
  [[gnu::noinline]] void begin(std::string_view key) {
    if (!first_) out_ += ",";
    if (depth_ == 0)
      out_ += "\n  ";
    else if (!first_)
      out_ += " ";
    first_ = false;
    text(key);
    out_ += ": ";
  }
  [[gnu::noinline]] void text(std::string_view value) {
    out_ += '"';
    for (char c : value) {
      if (c == '"' || c == '\\') {
        out_ += {'\\', c};
      } else if (static_cast<unsigned char>(c) < 0x20) {
        out_ += "\\u00";
        appendHex(out_, static_cast<uint8_t>(c));
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }
  void write(const std::string& value) { text(value); }
  [[gnu::noinline]] void write(uint64_t value) { out_ += std::to_string(value); }
  [[gnu::noinline]] void write(int64_t value) { out_ += std::to_string(value); }
  void write(uint32_t value) { write(uint64_t{value}); }
  void write(ElementType value) { text(nameOf(value)); }
  template <class E>
    requires std::is_enum_v<E>
  void write(E value) {
    text(detail::EnumNames<E>::kTexts[static_cast<size_t>(value)]);
  }
  [[gnu::noinline]] void write(const Expr& value) {
    if (std::optional<int64_t> number = value.constant())
      write(*number);
    else
      text(toText(value, names_));
  }
  template <class T>
  void write(const std::vector<T>& values) {
    list<T>(values);
  }
  template <class Row>
  void write(Id<Row> value) {
    write(static_cast<uint32_t>(value));
  }
  template <class Row>
  void write(const Rows<Row>& rows) {
    list<Row>(rows);
  }
  template <class T, size_t N>
  void write(const std::array<T, N>& values) {
    list<T>(values);
  }
  template <class T>
  void list(std::span<const T> values) {
    const bool lines = depth_ == 0 && std::is_class_v<T> && !std::is_same_v<T, std::string> && !values.empty();
    out_ += '[';
    for (size_t i = 0; i < values.size(); i++) {
      if (i > 0) out_ += lines ? "," : ", ";
      if (lines) out_ += "\n    ";
      write(values[i]);
    }
    out_ += lines ? "\n  ]" : "]";
  }
  template <class T>
    requires std::is_class_v<T>
  void write(const T& value) {
    const std::span<const std::string> outerNames = names_;
    out_ += '{';
    first_ = true;
    depth_++;
    detail::fields(*this, const_cast<T&>(value));
    depth_--;
    first_ = false;
    out_ += '}';
    names_ = outerNames;
  }

  std::string out_;
  std::span<const std::string> names_;  // of the variables in expressions
  int depth_ = 0;
  bool first_ = true;
};

}  // namespace

std::string withChecksum(std::string text) {
  if (!text.starts_with(kPlanJsonStart) || text.size() < kPlanJsonStart.size() + 64) return text;
  text.replace(kPlanJsonStart.size(), 64, 64, '0');
  text.replace(kPlanJsonStart.size(), 64, sha256Hex(text));
  return text;
}

std::string toJson(const Plan& plan) { return withChecksum(Writer().plan(plan)); }

}  // namespace svod
