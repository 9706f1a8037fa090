#include <limits>

#include "plan/fields.h"
#include "plan/json.h"
#include "plan/json_tape.h"

namespace svod {

namespace {

/// Reads members strictly: each must be there with its type, and no other may be. The first error is kept and
/// everything after it is skipped.
class Reader {
 public:
  explicit Reader(const JsonTape& tape) : tape_(tape) {}

  template <class T>
  void operator()(const char* key, T& value) {
    const uint32_t found = member(key);
    if (found == 0) return bad("member '" + std::string(key) + "' is missing");
    within(key, found, value);
  }
  template <class Row>
  void operator()(const char* key, std::optional<Id<Row>>& value) {
    if (const uint32_t found = member(key)) within(key, found, value.emplace());
  }
  template <class T, class Variant>
  void choice(const char* key, Variant& value) {
    if (const uint32_t found = member(key)) {
      if (choices_++ > 0) return bad("a step has more than one action");
      within(key, found, value.template emplace<T>());
    }
  }
  /// Makes the value if there is such a member, which is read later.
  template <class T>
  void mayHave(const char* key, std::optional<T>& value) {
    if (!error_ && tape_.find(object_, key) != 0) value.emplace();
  }
  void useNames(std::span<const std::string> names) { names_ = names; }

  std::optional<Error> plan(Plan& plan) {
    used_ = 1;  // the checksum, looked at by the caller
    detail::fields(*this, plan);
    finishObject();
    return std::move(error_);
  }

 private:
  void bad(std::string what) {
    if (error_) return;
    std::string at;
    for (const std::string& part : path_) at += part;
    error_ = Error(Diag::BadPlan, (at.empty() ? "" : at.substr(1) + ": ") + what, "");
  }
  /// 0: there is none.
  uint32_t member(const char* key) {
    const uint32_t found = error_ ? 0 : tape_.find(object_, key);
    used_ += found != 0;
    return found;
  }
  template <class T>
  void within(const char* key, uint32_t at, T& value) {
    if (error_) return;
    path_.push_back(std::string(".") + key);
    read(at, value);
    path_.pop_back();
  }
  void finishObject() {
    if (error_ || used_ == tape_[object_].number) return;
    bad("it has a member this version does not know");
  }

  void read(uint32_t at, std::string& value) {
    if (tape_[at].type != JsonType::String) return bad("a string was expected");
    value = tape_.text(at);
  }
  void read(uint32_t at, uint64_t& value) {
    const JsonToken& token = tape_[at];
    if (token.type != JsonType::Integer || token.isNegative || token.number > INT64_MAX)
      return bad("a size or count was expected");
    value = token.number;
  }
  void read(uint32_t at, uint32_t& value) {
    uint64_t wide = 0;
    read(at, wide);
    if (wide > std::numeric_limits<uint32_t>::max()) return bad("an index is too large");
    value = static_cast<uint32_t>(wide);
  }
  void read(uint32_t at, int64_t& value) {
    const JsonToken& token = tape_[at];
    if (token.type != JsonType::Integer) return bad("an integer was expected");
    if (token.number > static_cast<uint64_t>(INT64_MAX) + token.isNegative) return bad("an integer is too large");
    value = static_cast<int64_t>(token.isNegative ? 0 - token.number : token.number);
  }
  void read(uint32_t at, ElementType& value) {
    std::string text;
    read(at, text);
    if (error_) return;
    std::optional<ElementType> type = elementTypeFromName(text);
    if (!type) return bad("unknown dtype '" + text + "'");
    value = *type;
  }
  template <class E>
    requires std::is_enum_v<E>
  void read(uint32_t at, E& value) {
    std::string text;
    read(at, text);
    if (error_) return;
    const auto& texts = detail::EnumNames<E>::kTexts;
    for (size_t i = 0; i < texts.size(); i++)
      if (texts[i] == text) return void(value = static_cast<E>(i));
    bad("unknown word '" + text + "'");
  }
  void read(uint32_t at, Expr& value) {
    if (tape_[at].type == JsonType::Integer || tape_[at].type == JsonType::Real) {
      int64_t number = 0;
      read(at, number);
      value = number;
      return;
    }
    std::string text;
    read(at, text);
    if (error_) return;
    Result<Expr> parsed = parseExpr(text, names_);
    if (!parsed) return bad(parsed.error()->message);
    value = std::move(*parsed);
  }
  template <class T>
  void read(uint32_t at, std::vector<T>& values) {
    if (tape_[at].type != JsonType::Array) return bad("a list was expected");
    values.resize(tape_[at].number);
    uint32_t element = at + 1;
    for (size_t i = 0; i < values.size() && !error_; i++, element = tape_[element].end) {
      path_.push_back("[" + std::to_string(i) + "]");
      read(element, values[i]);
      path_.pop_back();
    }
  }
  template <class Row>
  void read(uint32_t at, Id<Row>& value) {
    uint32_t index = 0;
    read(at, index);
    value = Id<Row>(index);
  }
  template <class Row>
  void read(uint32_t at, Rows<Row>& rows) {
    read(at, static_cast<std::vector<Row>&>(rows));
  }
  template <class T, size_t N>
  void read(uint32_t at, std::array<T, N>& values) {
    std::vector<T> list;
    read(at, list);
    if (error_) return;
    if (list.size() != N) return bad("a list of " + std::to_string(N) + " was expected");
    std::move(list.begin(), list.end(), values.begin());
  }
  template <class T>
    requires std::is_class_v<T>
  void read(uint32_t at, T& value) {
    if (tape_[at].type != JsonType::Object) return bad("an object was expected");
    const uint32_t outer = std::exchange(object_, at);
    const size_t outerUsed = std::exchange(used_, 0);
    const std::span<const std::string> outerNames = names_;
    const int outerChoices = std::exchange(choices_, 0);
    detail::fields(*this, value);
    if (std::is_same_v<T, Step> && choices_ == 0) bad("a step needs 'launch', 'copy', 'call' or 'loop'");
    finishObject();
    choices_ = outerChoices;
    object_ = outer;
    used_ = outerUsed;
    names_ = outerNames;
  }

  const JsonTape& tape_;
  std::optional<Error> error_;
  std::vector<std::string> path_;
  std::span<const std::string> names_;  // of the variables in expressions
  uint32_t object_ = 0;                 // in the tape
  size_t used_ = 0;                     // members of object_ that were read
  int choices_ = 0;                     // actions seen in the current step
};

Status checkVersion(const JsonTape& tape, const std::string& name) {
  const JsonToken& version = tape[tape.find(0, "version")];  // the object itself when there is none
  if (version.type != JsonType::Integer || version.isNegative)
    return fail(Diag::BadPlan, "'" + name + "' has no plan version", "compile the graph again");
  if (version.number != kPlanVersion)
    return fail(Diag::PlanVersion,
                "'" + name + "' has plan version " + std::to_string(version.number) + ", this reader accepts version " +
                    std::to_string(kPlanVersion),
                "compile the graph again with the svodc that belongs to this runtime");
  return {};
}

}  // namespace

Result<Plan> planFromJson(std::string_view text, const std::string& name) {
  const std::optional<JsonTape> tape = JsonTape::parse(text);
  if (!tape || (*tape)[0].type != JsonType::Object)
    return fail(Diag::BadPlan, "'" + name + "' is damaged: it is not a JSON object", "compile the graph again");
  SVOD_CHECK(checkVersion(*tape, name));
  const std::string owned(text);
  if (!text.starts_with(kPlanJsonStart) || withChecksum(owned) != owned)
    return fail(Diag::PlanChecksum, "'" + name + "' was changed after it was written: its checksum differs",
                "compile the graph again");
  Plan plan;
  if (std::optional<Error> error = Reader(*tape).plan(plan)) {
    return fail(Diag::BadPlan, "'" + name + "': " + (*error)->message, "compile the graph again");
  }
  return plan;
}

}  // namespace svod
