#include "guilty_pass.h"

#include <optional>

#include "driver/targets.h"
#include "verify.h"

namespace svod {

namespace {

/// Names of passes in the order in which --bisect-limit counts them.
std::vector<std::string> passNames(const Target& target, bool optional) {
  std::vector<std::string> names;
  for (std::span<const Pass> passes : passTables(target))
    for (const Pass& pass : passes)
      if (pass.optional == optional) names.emplace_back(pass.name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Error withGuiltyPass(Error error, Model& model, CompileOptions options) {
  const std::vector<std::string> optional = passNames(*options.target, true);
  const auto isRight = [&](size_t passes) -> std::optional<bool> {
    options.passes.bisectLimit = static_cast<int64_t>(passes);
    auto compiled = compile(model, options);
    if (!compiled) return std::nullopt;
    return verifyPlan(model, **compiled, options.numerics).has_value();
  };
  size_t right = 0, wrong = optional.size();
  std::optional<bool> middle = isRight(right);
  if (middle == false)
    return std::move(error).withNote("without optional passes it is wrong as well; those that always run are " +
                                     joined(passNames(*options.target, false)) + ": see --print-after of each");
  while (middle && wrong - right > 1) {
    const size_t half = (right + wrong) / 2;
    middle = isRight(half);
    (middle == true ? right : wrong) = half;
  }
  if (!middle) return error;
  const std::string& pass = optional[right];
  return std::move(error)
      .withNote("pass " + pass + " does it: --bisect-limit " + std::to_string(right) + " is right, " +
                std::to_string(wrong) + " is not")
      .withHelp("add --print-before " + pass + " --print-after " + pass);
}

}  // namespace svod
