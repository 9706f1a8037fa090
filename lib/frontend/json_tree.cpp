#include "frontend/json_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace svod {

std::string_view toText(JsonKind kind) {
  constexpr std::string_view kText[] = {"null",     "a bool",   "an integer", "a number",
                                        "a string", "an array", "an object"};
  return kText[static_cast<size_t>(kind)];
}

const JsonValue* JsonValue::find(std::string_view name) const {
  auto it = std::ranges::find_if(members, [&](const JsonMember& m) { return m.name == name; });
  return it == members.end() ? nullptr : &it->value;
}

namespace {

/// Characters for the parser, counting how many it has taken.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  CountingIterator(const char* at, const char** taken) : at_(at), taken_(taken) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *taken_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& o) const { return at_ == o.at_; }
  bool operator!=(const CountingIterator& o) const { return at_ != o.at_; }

 private:
  const char* at_;
  const char** taken_;
};

/// Turns byte offsets into lines and columns. Offsets mostly grow, so it counts on from the last one.
class PositionFinder {
 public:
  explicit PositionFinder(std::string_view text) : text_(text) {}
  Position at(size_t offset) {
    if (offset < offset_) offset_ = 0, position_ = {1, 1};
    for (; offset_ < offset && offset_ < text_.size(); ++offset_) {
      bool newline = text_[offset_] == '\n';
      position_ = newline ? Position{position_.line + 1, 1} : Position{position_.line, position_.column + 1};
    }
    return position_;
  }

 private:
  std::string_view text_;
  size_t offset_ = 0;
  Position position_{1, 1};
};

// One level of an expression takes two of JSON: an object and its list of operands.
constexpr size_t kMaxOpen = 2 * kMaxDepth + 16;

/// Builds the tree from the events of nlohmann's parser, which does not recurse.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, const char** taken) : text_(text), taken_(taken), finder_(text) {}

  bool null() override { return add(make(JsonKind::Null, 4)); }
  bool boolean(bool value) override {
    JsonValue v = make(JsonKind::Bool, value ? 4 : 5);
    v.flag = value;
    return add(std::move(v));
  }
  bool number_integer(int64_t value) override { return addInt(value, false); }
  bool number_unsigned(uint64_t value) override { return addInt(static_cast<int64_t>(value), value > INT64_MAX); }
  bool number_float(double value, const std::string&) override {
    JsonValue v;
    v.kind = JsonKind::Float;
    v.at = finder_.at(numberStart());
    v.number = value;
    return add(std::move(v));
  }
  bool string(std::string& value) override {
    JsonValue v;
    v.kind = JsonKind::String;
    v.at = finder_.at(stringStart());
    v.text = std::move(value);
    return add(std::move(v));
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override { return open(JsonKind::Object); }
  bool start_array(size_t) override { return open(JsonKind::Array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    JsonMember member{std::move(name), finder_.at(stringStart()), {}};
    if (open_.back().members.size() >= kMaxAttributes)
      return fail(member.at, "an object has more than 64 members", "no statement or op has that many");
    if (open_.back().find(member.name))
      return fail(member.at, "member '" + member.name + "' appears twice", "keep one of them");
    open_.back().members.push_back(std::move(member));
    return true;
  }
  bool parse_error(size_t, const std::string& token, const nlohmann::detail::exception&) override {
    std::string shown = token.substr(0, 40);
    size_t end = offset();
    return fail(finder_.at(end > 0 ? end - 1 : 0),
                end >= text_.size() ? "the JSON ends too early" : "this is no JSON: '" + shown + "'",
                "check quotes, commas and brackets before it");
  }

  Result<JsonValue> take(const std::string& path) {
    if (error_) {
      (*error_)->loc.file = path;
      return svod::fail(std::move(*error_));
    }
    return std::move(root_);
  }

 private:
  size_t offset() const { return std::min<size_t>(static_cast<size_t>(*taken_ - text_.data()), text_.size()); }

  // The parser has taken the closing quote: the opening one is the nearest before it that is not escaped.
  size_t stringStart() const {
    size_t at = offset();
    at = at >= 2 ? at - 2 : 0;
    for (; at > 0; --at) {
      if (text_[at] != '"') continue;
      size_t slashes = 0;
      while (slashes < at && text_[at - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
    }
    return at;
  }
  // The parser may have looked at the character behind the number.
  size_t numberStart() const {
    auto isPart = [&](size_t i) {
      return std::string_view("+-.0123456789eE").find(text_[i]) != std::string_view::npos;
    };
    size_t at = offset();
    if (at > 0 && !isPart(at - 1)) --at;
    while (at > 0 && isPart(at - 1)) --at;
    return at;
  }

  JsonValue make(JsonKind kind, size_t length) {
    JsonValue v;
    v.kind = kind;
    v.at = finder_.at(offset() >= length ? offset() - length : 0);
    return v;
  }
  bool addInt(int64_t value, bool isBig) {
    JsonValue v;
    v.kind = JsonKind::Int;
    v.at = finder_.at(numberStart());
    v.integer = value;
    v.isBig = isBig;
    return add(std::move(v));
  }
  bool open(JsonKind kind) {
    JsonValue v = make(kind, 1);
    if (open_.size() >= kMaxOpen) return fail(v.at, "values are nested too deeply", "name parts of them");
    open_.push_back(std::move(v));
    return true;
  }
  bool close() {
    JsonValue done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done));
  }
  bool add(JsonValue value) {
    if (++values_ > kMaxValues)
      return fail(value.at, "the file holds more than 2^21 values", "put data into a .npy or .safetensors file");
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().kind == JsonKind::Array) {
      open_.back().items.push_back(std::move(value));
    } else {
      open_.back().members.back().value = std::move(value);
    }
    return true;
  }
  bool fail(Position at, std::string message, std::string help) {
    if (!error_) error_ = Error(Diag::Syntax, std::move(message), std::move(help), {"", at.line, at.column});
    return false;
  }

  std::string_view text_;
  const char** taken_;
  PositionFinder finder_;
  std::vector<JsonValue> open_;
  JsonValue root_;
  size_t values_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<JsonValue> parseJson(std::string_view text, const std::string& path) {
  const char* taken = text.data();
  TreeBuilder builder(text, &taken);
  nlohmann::json::sax_parse(CountingIterator(text.data(), &taken), CountingIterator(text.data() + text.size(), &taken),
                            &builder);
  return builder.take(path);
}

}  // namespace svod
