// JSON that anyone may have written, in time that grows with its length alone.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace svod {

/// Nothing where it is no JSON. Objects and lists inside of `levels` others are null. Of members with one name the last
/// one counts; `twice`, where given, is the name of a member of the outermost object that occurs again.
std::optional<nlohmann::json> readJson(std::string_view text, size_t levels, std::string* twice = nullptr);

}  // namespace svod
