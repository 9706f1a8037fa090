// Whether a reader notices that a number of a manifest was changed by somebody who repaired its checksum.
#pragma once
#include <cctype>
#include <set>

#include "plan/json.h"
#include "runtime/harness.h"

namespace svod {

/// Loads the plan with each number changed in several ways; where it is accepted, the text around the number.
inline std::set<std::string> acceptedNumbers(const std::string& path, size_t& tried) {
  const std::string json = readText(path + "/plan.json");
  std::set<std::string> accepted;
  for (size_t at = json.find("\"target\""), end = at; at < json.size(); at = end) {
    end = at + 1;
    if (!std::isdigit(json[at]) || std::isalnum(json[at - 1]) || json[at - 1] == '"') continue;
    while (std::isdigit(json[end])) end++;
    if (std::isalpha(json[end])) continue;  // part of a name
    const int64_t value = std::stoll(json.substr(at, end - at));
    const int64_t huge = INT64_C(1) << 40;
    for (int64_t other : {int64_t{0}, int64_t{1}, value - 1, value + 1, 2 * value, value / 2, value + 64, huge}) {
      if (other == value || other < 0) continue;
      writeText(path + "/plan.json", withChecksum(json.substr(0, at) + std::to_string(other) + json.substr(end)));
      svod_plan* plan = nullptr;
      if (svod_plan_load(path.c_str(), nullptr, &plan, nullptr) == 0)
        accepted.insert(json.substr(at - 40, end - at + 60));
      svod_plan_free(plan);
      tried++;
    }
  }
  return accepted;
}

}  // namespace svod
