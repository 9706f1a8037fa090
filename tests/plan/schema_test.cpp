// docs/plan.schema.json against what the writer writes and the reader reads.
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/temp_folder.h"
#include "plan/json.h"
#include "plan/sample.h"

using namespace svod;
using Json = nlohmann::json;

namespace {

/// The part of JSON Schema that our schema uses. Returns what is wrong, or "".
class Validator {
 public:
  explicit Validator(Json schema) : root_(std::move(schema)) {}
  std::string validate(const Json& value) const { return validate(value, root_, "plan"); }

 private:
  static bool hasType(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    return type == "integer" && value.is_number_integer();
  }
  std::string validate(const Json& value, const Json& schema, const std::string& at) const {
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>().substr(8);  // after "#/$defs/"
      return validate(value, root_["$defs"].at(name), at);
    }
    if (schema.contains("type")) {
      const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
      bool any = false;
      for (const Json& type : types) any = any || hasType(value, type);
      if (!any) return at + ": wrong type";
    }
    if (schema.contains("const") && value != schema["const"]) return at + ": wrong constant";
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      return at + ": not in the enumeration";
    if (schema.contains("minimum") && value < schema["minimum"]) return at + ": too small";
    if (schema.contains("not") && value == schema["not"].value("const", Json())) return at + ": excluded";
    if (value.is_array() &&
        (value.size() < schema.value("minItems", size_t{0}) || value.size() > schema.value("maxItems", value.size())))
      return at + ": too few or too many";
    if (schema.contains("multipleOf") && value.get<uint64_t>() % schema["multipleOf"].get<uint64_t>() != 0)
      return at + ": no multiple";
    if (schema.contains("minLength") && value.get<std::string>().size() < schema["minLength"])
      return at + ": too short";
    if (value.is_object()) return validateObject(value, schema, at);
    for (size_t i = 0; value.is_array() && i < value.size(); i++)
      if (std::string wrong = validate(value[i], schema["items"], at + "[" + std::to_string(i) + "]"); !wrong.empty())
        return wrong;
    return "";
  }
  std::string validateObject(const Json& value, const Json& schema, const std::string& at) const {
    for (const Json& name : schema["required"])
      if (!value.contains(name.get<std::string>())) return at + ": lacks " + name.dump();
    for (const auto& [name, member] : value.items()) {
      if (!schema["properties"].contains(name)) return at + ": has " + name;
      if (std::string wrong = validate(member, schema["properties"][name], at + "." + name); !wrong.empty())
        return wrong;
    }
    for (const Json& rule : schema.value("allOf", Json::array()))
      for (const Json& member : rule["then"]["required"])
        if (fits(value, rule["if"]["properties"], at) && !hasExcluded(value, rule["if"]) &&
            !value.contains(member.get<std::string>()))
          return at + ": lacks " + member.dump();
    if (!schema.contains("oneOf")) return "";
    int matching = 0;
    for (const Json& choice : schema["oneOf"]) matching += isChosen(value, choice) ? 1 : 0;
    return matching == 1 ? "" : at + ": not exactly one choice";
  }
  static bool hasExcluded(const Json& value, const Json& condition) {
    return condition.contains("not") && value.contains(condition["not"]["required"][0].get<std::string>());
  }
  bool fits(const Json& value, const Json& properties, const std::string& at) const {
    for (const auto& [name, wanted] : properties.items())
      if (!value.contains(name) || !validate(value[name], wanted, at).empty()) return false;
    return true;
  }
  /// All that the choice requires is there, and nothing that it excludes.
  static bool isChosen(const Json& value, const Json& choice) {
    const auto isThere = [&](const Json& name) { return value.contains(name.get<std::string>()); };
    const auto isWhole = [&](const Json& names) { return std::all_of(names.begin(), names.end(), isThere); };
    const Json excluded = choice.contains("not") ? choice["not"]["anyOf"] : Json::array();
    const auto isThereWhole = [&](const Json& other) { return isWhole(other["required"]); };
    return isWhole(choice["required"]) && std::none_of(excluded.begin(), excluded.end(), isThereWhole);
  }
  Json root_;
};

Json schema() { return Json::parse(readText("docs/plan.schema.json")); }

}  // namespace

TEST_CASE("schema: a plan with everything in it is valid") {
  for (const Plan& plan :
       {samplePlan(), sampleGridPlan(), sampleVariantsPlan(), sampleArchPlan(), sampleCasesPlan(), sampleRunPlan()})
    CHECK(Validator(schema()).validate(Json::parse(toJson(plan))) == "");
  CHECK(Validator(schema()).validate(Json::parse(toJson(Plan{}))).find("numerics") != std::string::npos);
}

TEST_CASE("schema: what the reader refuses, the schema refuses, member by member") {
  const Json plan = Json::parse(toJson(std::array{sampleGridPlan(), sampleVariantsPlan(), sampleCasesPlan(),
                                                  sampleRunPlan()}[GENERATE(0u, 1u, 2u, 3u)]));
  const Validator validator(schema());
  int members = 0;
  // Every member of every object in turn: left out, of another type, and with a companion nobody knows.
  const std::function<void(const Json&, Json::json_pointer)> visit = [&](const Json& value, Json::json_pointer at) {
    if (value.is_array())
      for (size_t i = 0; i < value.size(); i++) visit(value[i], at / i);
    if (!value.is_object()) return;
    for (const auto& [name, member] : value.items()) {
      members++;
      const auto pointer = at / name;
      INFO(pointer.to_string());
      const auto bothRefuse = [&](const Json& changed) {
        CHECK(validator.validate(changed) != "");
        // The reader wants its own first line; the rest may be laid out in any way.
        Json rest = changed;
        rest.erase("checksum");
        const std::string text = std::string(kPlanJsonStart) + std::string(64, '0') + "\"," + rest.dump().substr(1);
        CHECK(!planFromJson(withChecksum(text), "changed"));
      };
      if (name == "checksum") continue;
      Json changed = plan;
      changed[at].erase(name);
      if (name != "init" && name != "cases" && name != "likely") bothRefuse(changed);
      changed = plan;
      changed[pointer] = true;
      bothRefuse(changed);
      changed = plan;
      changed[at]["more"] = 1;
      bothRefuse(changed);
      visit(member, pointer);
    }
  };
  visit(plan, Json::json_pointer());
  CHECK(members > 180);
}
