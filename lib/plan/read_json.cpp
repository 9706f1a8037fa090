#include <limits>
#include <nlohmann/json.hpp>

#include "plan/fields.h"
#include "plan/json.h"

namespace svod {

namespace {

using Json = nlohmann::json;

/// Reads members strictly: each must be there with its type, and no other may be. The first error is kept and
/// everything after it is skipped.
class Reader {
 public:
  template <class T>
  void operator()(const char* key, T& value) {
    const Json* found = member(key);
    if (found == nullptr) return bad("member '" + std::string(key) + "' is missing");
    within(key, *found, value);
  }
  void operator()(const char* key, std::optional<ConstantId>& value) {
    if (const Json* found = member(key)) within(key, *found, value.emplace());
  }
  template <class T, class Variant>
  void choice(const char* key, Variant& value) {
    if (const Json* found = member(key)) {
      if (choices_++ > 0) return bad("a step has more than one action");
      within(key, *found, value.template emplace<T>());
    }
  }
  /// Makes the value if there is such a member, which is read later.
  template <class T>
  void mayHave(const char* key, std::optional<T>& value) {
    if (!error_ && object_->contains(key)) value.emplace();
  }
  void useNames(std::span<const std::string> names) { names_ = names; }

  std::optional<Error> plan(const Json& json, Plan& plan) {
    used_ = 1;  // the checksum, looked at by the caller
    object_ = &json;
    detail::fields(*this, plan);
    finishObject();
    return std::move(error_);
  }

 private:
  void bad(std::string what) {
    if (error_) return;
    std::string at;
    for (const std::string& part : path_) at += part;
    error_ = Error{Diag::BadPlan, (at.empty() ? "" : at.substr(1) + ": ") + what, "", {}, {}};
  }
  const Json* member(const char* key) {
    if (error_) return nullptr;
    auto found = object_->find(key);
    if (found == object_->end()) return nullptr;
    used_++;
    return &*found;
  }
  template <class T>
  void within(const char* key, const Json& json, T& value) {
    if (error_) return;
    path_.push_back(std::string(".") + key);
    read(json, value);
    path_.pop_back();
  }
  void finishObject() {
    if (error_ || used_ == object_->size()) return;
    bad("it has a member this version does not know");
  }

  void read(const Json& json, std::string& value) {
    if (!json.is_string()) return bad("a string was expected");
    value = json.get_ref<const std::string&>();
  }
  void read(const Json& json, uint64_t& value) {
    if (!json.is_number_unsigned() || json.get<uint64_t>() > INT64_MAX) return bad("a size or count was expected");
    value = json.get<uint64_t>();
  }
  void read(const Json& json, uint32_t& value) {
    uint64_t wide = 0;
    read(json, wide);
    if (wide > std::numeric_limits<uint32_t>::max()) return bad("an index is too large");
    value = static_cast<uint32_t>(wide);
  }
  void read(const Json& json, int64_t& value) {
    if (!json.is_number_integer()) return bad("an integer was expected");
    if (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX) return bad("an integer is too large");
    value = json.get<int64_t>();
  }
  void read(const Json& json, ElementType& value) {
    std::string text;
    read(json, text);
    if (error_) return;
    std::optional<ElementType> type = elementTypeFromName(text);
    if (!type) return bad("unknown dtype '" + text + "'");
    value = *type;
  }
  template <class E>
    requires std::is_enum_v<E>
  void read(const Json& json, E& value) {
    std::string text;
    read(json, text);
    if (error_) return;
    const auto& texts = detail::EnumNames<E>::kTexts;
    for (size_t i = 0; i < texts.size(); i++)
      if (texts[i] == text) return void(value = static_cast<E>(i));
    bad("unknown word '" + text + "'");
  }
  void read(const Json& json, Expr& value) {
    if (json.is_number()) {
      int64_t number = 0;
      read(json, number);
      value = number;
      return;
    }
    std::string text;
    read(json, text);
    if (error_) return;
    Result<Expr> parsed = parseExpr(text, names_);
    if (!parsed) return bad(parsed.error().message);
    value = std::move(*parsed);
  }
  template <class T>
  void read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) return bad("a list was expected");
    values.resize(json.size());
    for (size_t i = 0; i < values.size() && !error_; i++) {
      path_.push_back("[" + std::to_string(i) + "]");
      read(json[i], values[i]);
      path_.pop_back();
    }
  }
  template <class T, size_t N>
  void read(const Json& json, std::array<T, N>& values) {
    std::vector<T> list;
    read(json, list);
    if (error_) return;
    if (list.size() != N) return bad("a list of " + std::to_string(N) + " was expected");
    std::move(list.begin(), list.end(), values.begin());
  }
  template <class T>
    requires std::is_class_v<T>
  void read(const Json& json, T& value) {
    if (!json.is_object()) return bad("an object was expected");
    const Json* outer = std::exchange(object_, &json);
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

  std::optional<Error> error_;
  std::vector<std::string> path_;
  std::span<const std::string> names_;  // of the variables in expressions
  const Json* object_ = nullptr;
  size_t used_ = 0;  // members of object_ that were read
  int choices_ = 0;  // actions seen in the current step
};

Status checkVersion(const Json& json, const std::string& name) {
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_unsigned())
    return fail(Diag::BadPlan, "'" + name + "' has no plan version", "compile the graph again");
  if (version->get<uint64_t>() != kPlanVersion)
    return fail(Diag::PlanVersion,
                "'" + name + "' has plan version " + version->dump() + ", this reader accepts version " +
                    std::to_string(kPlanVersion),
                "compile the graph again with the svodc that belongs to this runtime");
  return {};
}

}  // namespace

Result<Plan> planFromJson(std::string_view text, const std::string& name) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return fail(Diag::BadPlan, "'" + name + "' is damaged: it is not a JSON object", "compile the graph again");
  SVOD_CHECK(checkVersion(json, name));
  const std::string owned(text);
  if (!text.starts_with(kPlanJsonStart) || withChecksum(owned) != owned)
    return fail(Diag::PlanChecksum, "'" + name + "' was changed after it was written: its checksum differs",
                "compile the graph again");
  Plan plan;
  if (std::optional<Error> error = Reader().plan(json, plan)) {
    error->message = "'" + name + "': " + error->message;
    error->help = "compile the graph again";
    return fail(std::move(*error));
  }
  return plan;
}

}  // namespace svod
