#include "support/expectation.h"

#include <algorithm>

namespace svod {

namespace {

std::string listed(std::span<const int64_t> values) {
  std::string text = "[";
  for (int64_t v : values) text += (text.size() == 1 ? "" : ", ") + std::to_string(v);
  return text + "]";
}

}  // namespace

Status checkExpectation(std::string_view text, std::span<const int64_t> both) {
  const std::span<const int64_t> given = both.first(both.size() / 2), wanted = both.last(both.size() / 2);
  if (std::equal(given.begin(), given.end(), wanted.begin())) return {};
  return fail(
      Diag::InputMismatch,
      std::string(text) + ": the run gives " + listed(given) + ", the plan is for " + listed(wanted),
      "pass values that agree with the plan, or compile for these: --const INPUT=FILE.npy, or other declared dims");
}

Status checkEqualSizes(std::string_view text, int64_t a, int64_t b, const std::map<std::string, int64_t>& variables) {
  if (a == b) return {};
  std::string values;
  for (const auto& [name, value] : variables)
    values += (values.empty() ? " with " : ", ") + name + "=" + std::to_string(value);
  const std::string first = variables.empty() ? "n" : variables.begin()->first;
  const std::string last = variables.size() < 2 ? "m" : variables.rbegin()->first;
  return fail(Diag::InputMismatch,
              std::string(text) + ": " + std::to_string(a) + " is not " + std::to_string(b) + values,
              "pass inputs whose sizes agree; when compiling, --var " + last + "=" + first + " or --var " + last +
                  "=2*" + first + " says how sizes depend on each other");
}

}  // namespace svod
