#include "support/expectation.h"

#include <algorithm>

#include "support/says.h"

namespace svod {

namespace {

enum class Says : uint8_t { Both, Text };

struct KindInfo {
  std::string_view text;
  Diag diag;
  Says says;
  std::string_view help;
};

constexpr KindInfo kKinds[] = {
#define EXPECTATION(name, text, diag, says, help) {text, Diag::diag, Says::says, help},
#include "support/expectations.def"
#undef EXPECTATION
};

const KindInfo& info(ExpectationKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string listed(std::span<const int64_t> values) {
  std::string text = "[";
  for (int64_t v : values) text += (text.size() == 1 ? "" : ", ") + std::to_string(v);
  return says({text, "]"});
}

}  // namespace

std::string_view toText(ExpectationKind kind) { return info(kind).text; }

std::optional<ExpectationKind> expectationKind(std::string_view text) {
  const auto row = std::ranges::find(kKinds, text, &KindInfo::text);
  if (row == std::end(kKinds)) return std::nullopt;
  return static_cast<ExpectationKind>(row - std::begin(kKinds));
}

Status checkExpectation(ExpectationKind kind, std::string_view text, std::span<const int64_t> both) {
  const std::span<const int64_t> given = both.first(both.size() / 2), wanted = both.last(both.size() / 2);
  if (std::equal(given.begin(), given.end(), wanted.begin())) return {};
  const KindInfo& row = info(kind);
  std::string message(text);
  if (row.says == Says::Both) message += ": the run gives " + listed(given) + ", the plan is for " + listed(wanted);
  return fail(row.diag, std::move(message), std::string(row.help));
}

Status checkEqualSizes(std::string_view text, int64_t a, int64_t b, const std::map<std::string, int64_t>& variables) {
  if (a == b) return {};
  std::string values, options;
  for (const auto& [name, value] : variables) {
    values += says({values.empty() ? " with " : ", ", name, "=", value});
    options += says({" --var ", name, "=", value});
  }
  // A model may stretch an axis of 1, which a plan for many sizes takes to be none.
  const bool mayStretch = !variables.empty() && (a == 1 || b == 1);
  std::string help = "pass inputs whose sizes agree";
  if (variables.size() > 1) {
    const std::string &first = variables.begin()->first, &last = variables.rbegin()->first;
    help += says({"; when compiling, --var ", last, "=", first, " or --var ", last, "=2*", first,
                  " says how sizes depend on each other"});
  }
  if (mayStretch)
    help += says({variables.size() > 1 ? ", and" : "; when compiling,", options,
                  " is for these, where the model stretches an axis of 1"});
  return fail(Diag::InputMismatch, says({text, ": ", a, " is not ", b, values}), std::move(help));
}

}  // namespace svod
