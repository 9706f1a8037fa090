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
  return fail(Diag::InputMismatch,
              std::string(text) + ": the run gives " + listed(given) + ", the plan is for " + listed(wanted),
              "pass values that agree with the plan, or compile for these: --const INPUT=FILE.npy, or other declared dims");
}

}  // namespace svod
