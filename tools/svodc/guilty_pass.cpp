#include "guilty_pass.h"

#include <optional>

#include "driver/targets.h"
#include "required_passes.h"
#include "verify.h"

namespace svod {

namespace {

/// Names of passes in the order in which --bisect-limit counts them.
std::vector<std::string> optionalNames(const Target& target) {
  std::vector<std::string> names;
  for (std::span<const Pass> passes : passTables(target))
    for (const Pass& pass : passes)
      if (pass.optional) names.emplace_back(pass.name);
  return names;
}

std::string requiredNames(const Target& target) {
  std::string text;
  for (std::span<const Pass> passes : passTables(target))
    for (const Pass& pass : passes)
      if (!pass.optional) text += (text.empty() ? "" : ", ") + std::string(pass.name);
  return text;
}

}  // namespace

Error withGuiltyPass(Error error, Model& model, CompileOptions options) {
  const std::vector<std::string> optional = optionalNames(*options.target);
  const auto isRight = [&](size_t passes) -> std::optional<bool> {
    options.passes.bisectLimit = static_cast<int64_t>(passes);
    auto compiled = compile(model, options);
    if (!compiled) return std::nullopt;
    return verifyPlan(model, **compiled, options.numerics).has_value();
  };
  size_t right = 0, wrong = optional.size();
  std::optional<bool> middle = isRight(right);
  if (middle == false) {
    const std::string fault = faultOfRequiredPasses(model, options);
    return std::move(error).withNote(
        "without optional passes it is wrong as well; " +
        (fault.empty() ? "those that always run are " + requiredNames(*options.target) + ": see --print-after of each"
                       : fault));
  }
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
