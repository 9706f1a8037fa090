// JSON with positions: every value knows its line and column, which the usual tree of nlohmann::json does not
// keep.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/graph_file.h"

namespace svod {

enum class JsonKind : uint8_t { Null, Bool, Int, Float, String, Array, Object };
std::string_view toText(JsonKind kind);

struct JsonMember;

struct JsonValue {
  JsonKind kind = JsonKind::Null;
  bool flag = false;
  bool isBig = false;  // an Int above the i64 range, as its bit pattern
  Position at;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  // in the order of the file

  const JsonValue* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  Position at;
  JsonValue value;
};

/// Parses one value. Too deep nesting and members that appear twice are errors.
Result<JsonValue> parseJson(std::string_view text, const std::string& path);

}  // namespace svod
