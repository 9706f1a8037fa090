#include <algorithm>
#include <limits>

#include "plan/fields.h"
#include "plan/json.h"
#include "plan/json_tape.h"
#include "support/says.h"

namespace svod {

namespace {

/// Reads members strictly: each must be there with its type, and no other may be. The first error is kept and
/// everything after it is skipped. What does not depend on the type of a member is a function of its own, since there
/// are some thirty types.
class Reader {
 public:
  explicit Reader(const JsonTape& tape) : tape_(tape) {}

  template <class T>
  void operator()(const char* key, T& value) {
    if (const uint32_t found = enter(key, true)) read(found, value), path_.pop_back();
  }
  template <class Row>
  void operator()(const char* key, std::optional<Id<Row>>& value) {
    if (const uint32_t found = enter(key, false)) read(found, value.emplace()), path_.pop_back();
  }
  template <class T, class Variant>
  void choice(const char* key, Variant& value) {
    const uint32_t found = enter(key, false);
    if (found == 0) return;
    if (object_.choices++ == 0)
      read(found, value.template emplace<T>());
    else
      bad("a step has more than one action");
    path_.pop_back();
  }
  /// Makes the value if there is such a member, which is read later.
  template <class T>
  void mayHave(const char* key, std::optional<T>& value) {
    if (!error_ && tape_.find(object_.at, key) != 0) value.emplace();
  }
  /// A list that is left out where it is empty.
  template <class T>
  void unlessEmpty(const char* key, std::vector<T>& values) {
    const uint32_t found = enter(key, false);
    if (found == 0) return;
    read(found, values);
    if (values.empty()) bad("an empty list is left out");
    path_.pop_back();
  }
  void useNames(std::span<const std::string> names) { object_.names = names; }

  std::optional<Error> plan(Plan& plan) {
    object_.used = 1;  // the checksum, looked at by the caller
    detail::fields(*this, plan);
    finishObject();
    plan.version = kPlanVersion;  // older ones mean the same
    return std::move(error_);
  }

 private:
  struct Object {
    uint32_t at = 0;                     // in the tape
    size_t used = 0;                     // members that were read
    int choices = 0;                     // actions seen, of a step
    std::span<const std::string> names;  // of the variables in expressions
  };
  struct Place {
    const char* key;  // null: an element
    size_t index;
  };

  [[gnu::noinline]] void bad(std::string_view what) {
    if (error_) return;
    std::string at;
    for (const Place& place : path_)
      at += place.key != nullptr ? std::string(at.empty() ? "" : ".") + place.key
                                 : "[" + std::to_string(place.index) + "]";
    error_ = Error(Diag::BadPlan, says({(at.empty() ? "" : at + ": "), what}));
  }
  /// Where the member stands, which is then the innermost of the path. 0: there is none.
  [[gnu::noinline]] uint32_t enter(const char* key, bool isNeeded) {
    const uint32_t found = error_ ? 0 : tape_.find(object_.at, key);
    if (found == 0 && isNeeded) bad(says({"member '", key, "' is missing"}));
    if (found == 0) return 0;
    object_.used++;
    path_.push_back({key, 0});
    return found;
  }
  void finishObject() {
    if (!error_ && object_.used != tape_[object_.at].number) bad("it has a member this version does not know");
  }
  [[gnu::noinline]] Object enterObject(uint32_t at) {
    if (tape_[at].type != JsonType::Object) bad("an object was expected");
    return std::exchange(object_, {at, 0, 0, object_.names});
  }
  [[gnu::noinline]] void leaveObject(const Object& outer) {
    finishObject();
    object_ = outer;
  }
  /// How many elements there are.
  [[gnu::noinline]] size_t enterList(uint32_t at) {
    if (tape_[at].type != JsonType::Array) return bad("a list was expected"), 0;
    path_.push_back({nullptr, 0});
    return tape_[at].number;
  }
  bool isWithin(size_t index, size_t count) {
    path_.back().index = index;
    return index < count && !error_;
  }

  [[gnu::noinline]] void read(uint32_t at, std::string& value) {
    if (tape_[at].type != JsonType::String) return bad("a string was expected");
    value = tape_.text(at);
  }
  [[gnu::noinline]] void read(uint32_t at, uint64_t& value) {
    const JsonToken& token = tape_[at];
    if (token.type != JsonType::Integer || token.isNegative || token.number > INT64_MAX)
      return bad("a size or count was expected");
    value = token.number;
  }
  [[gnu::noinline]] void read(uint32_t at, uint32_t& value) {
    uint64_t wide = 0;
    read(at, wide);
    if (wide > std::numeric_limits<uint32_t>::max()) return bad("an index is too large");
    value = static_cast<uint32_t>(wide);
  }
  [[gnu::noinline]] void read(uint32_t at, int64_t& value) {
    const JsonToken& token = tape_[at];
    if (token.type != JsonType::Integer) return bad("an integer was expected");
    if (token.number > static_cast<uint64_t>(INT64_MAX) + token.isNegative) return bad("an integer is too large");
    value = static_cast<int64_t>(token.isNegative ? 0 - token.number : token.number);
  }
  [[gnu::noinline]] void read(uint32_t at, ElementType& value) {
    std::string text;
    read(at, text);
    if (error_) return;
    std::optional<ElementType> type = elementTypeFromName(text);
    if (!type) return bad(says({"unknown dtype '", text, "'"}));
    value = *type;
  }
  [[gnu::noinline]] size_t position(uint32_t at, std::span<const std::string_view> words) {
    std::string text;
    read(at, text);
    const auto found = std::find(words.begin(), words.end(), text);
    if (found != words.end()) return static_cast<size_t>(found - words.begin());
    return bad(says({"unknown word '", text, "'"})), 0;
  }
  template <class E>
    requires std::is_enum_v<E>
  void read(uint32_t at, E& value) {
    value = static_cast<E>(position(at, detail::EnumNames<E>::kTexts));
  }
  [[gnu::noinline]] void read(uint32_t at, Expr& value) {
    if (tape_[at].type == JsonType::Integer || tape_[at].type == JsonType::Real) {
      int64_t number = 0;
      read(at, number);
      value = number;
      return;
    }
    std::string text;
    read(at, text);
    if (error_) return;
    Result<Expr> parsed = parseExpr(text, object_.names);
    if (!parsed) return bad(parsed.error()->message);
    value = std::move(*parsed);
  }
  template <class T>
  void read(uint32_t at, std::vector<T>& values) {
    const size_t count = enterList(at);
    if (error_) return;
    values = std::vector<T>(count);
    uint32_t element = at + 1;
    for (size_t i = 0; isWithin(i, count); i++, element = tape_[element].end) read(element, values[i]);
    path_.pop_back();
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
    if (list.size() != N) return bad(says({"a list of ", N, " was expected"}));
    std::move(list.begin(), list.end(), values.begin());
  }
  template <class T>
    requires std::is_class_v<T>
  void read(uint32_t at, T& value) {
    const Object outer = enterObject(at);
    if (!error_) detail::fields(*this, value);
    if (std::is_same_v<T, Step> && object_.choices == 0) bad("a step needs 'launch', 'copy', 'call' or 'loop'");
    leaveObject(outer);
  }

  const JsonTape& tape_;
  std::optional<Error> error_;
  std::vector<Place> path_;
  Object object_;
};

Status checkVersion(const JsonTape& tape, const std::string& name) {
  const JsonToken& version = tape[tape.find(0, "version")];  // the object itself when there is none
  if (version.type != JsonType::Integer || version.isNegative)
    return fail(Diag::BadPlan, says({"'", name, "' has no plan version"}), "compile the graph again");
  if (version.number < kOldestPlanVersion || version.number > kPlanVersion)
    return fail(Diag::PlanVersion,
                says({"'", name, "' has plan version ", version.number, ", this reader accepts versions ",
                      kOldestPlanVersion, " to ", kPlanVersion}),
                "compile the graph again with the svodc that belongs to this runtime");
  return {};
}

}  // namespace

Status readPlanJson(std::string_view text, const std::string& name, Plan& plan) {
  const std::optional<JsonTape> tape = JsonTape::parse(text);
  if (!tape || (*tape)[0].type != JsonType::Object)
    return fail(Diag::BadPlan, says({"'", name, "' is damaged: it is not a JSON object"}), "compile the graph again");
  SVOD_CHECK(checkVersion(*tape, name));
  const std::string owned(text);
  if (!text.starts_with(kPlanJsonStart) || withChecksum(owned) != owned)
    return fail(Diag::PlanChecksum, says({"'", name, "' was changed after it was written: its checksum differs"}),
                "compile the graph again");
  if (std::optional<Error> error = Reader(*tape).plan(plan))
    return fail(Diag::BadPlan, says({"'", name, "': ", (*error)->message}), "compile the graph again");
  return {};
}

}  // namespace svod
