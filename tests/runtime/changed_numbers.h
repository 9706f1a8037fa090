// Whether a reader notices that a number of a manifest was changed by somebody who repaired its checksum.
#pragma once
#include <cctype>
#include <set>

#include "plan/json.h"
#include "runtime/harness.h"

namespace svod {

/// A number in the text of a manifest.
struct NumberAt {
  size_t begin = 0, end = 0;
  int64_t value = 0;

  std::string changedTo(const std::string& json, int64_t other) const {
    return json.substr(0, begin) + std::to_string(other) + json.substr(end);
  }
  std::string shownIn(const std::string& json) const { return json.substr(begin - 40, end - begin + 60); }
};

/// All of them, but for those of the version and the checksum.
inline std::vector<NumberAt> numbersOf(const std::string& json) {
  std::vector<NumberAt> numbers;
  for (size_t at = json.find("\"target\""), end = at; at < json.size(); at = end) {
    end = at + 1;
    if (!std::isdigit(json[at]) || std::isalnum(json[at - 1]) || json[at - 1] == '"') continue;
    while (std::isdigit(json[end])) end++;
    if (std::isalpha(json[end])) continue;  // part of a name
    numbers.push_back({at, end, std::stoll(json.substr(at, end - at))});
  }
  return numbers;
}

/// What else stands in the place of a number: near it, far from it, and what often has a meaning.
inline std::vector<int64_t> othersFor(int64_t value) {
  std::set<int64_t> others = {0,         1,          value - 1,    value + 1,       2 * value,
                              value / 2, value + 64, value + 1000, INT64_C(1) << 40};
  std::erase_if(others, [&](int64_t other) { return other == value || other < 0; });
  return {others.begin(), others.end()};
}

/// Loads the plan with each number changed in several ways; where it is accepted, the text around the number.
inline std::set<std::string> acceptedNumbers(const std::string& path, size_t& tried) {
  const std::string json = readText(path + "/plan.json");
  std::set<std::string> accepted;
  for (const NumberAt& number : numbersOf(json))
    for (int64_t other : othersFor(number.value)) {
      writeText(path + "/plan.json", withChecksum(number.changedTo(json, other)));
      svod_plan* plan = nullptr;
      if (svod_plan_load(path.c_str(), nullptr, &plan, nullptr) == 0) accepted.insert(number.shownIn(json));
      svod_plan_free(plan);
      tried++;
    }
  return accepted;
}

}  // namespace svod
