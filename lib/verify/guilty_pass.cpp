#include "verify/guilty_pass.h"

#include <optional>

#include "driver/kernel_passes.h"
#include "verify/first_fault.h"
#include "verify/verify.h"

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

std::string printsOf(const std::string& pass) { return "add --print-before " + pass + " --print-after " + pass; }

/// Adds what the interpreter says of a plan that is wrong without any optional pass.
Error withRequiredPass(Error error, Model& model, const CompileOptions& options) {
  const std::string also = "without optional passes it is wrong as well; ";
  const Result<Fault> fault = firstFault(model, options, "");
  if (!fault)
    return std::move(error).withNote(also + "those that always run are " + requiredNames(*options.target) +
                                     ": see --print-after of each");
  if (fault->pass.empty())
    return std::move(error).withNote(also + "no pass that always runs changes a value: what is left is the code of " +
                                     "target " + std::string(options.target->name) + ", and the plan");
  return std::move(error)
      .withNote(also + "pass " + fault->pass + " does it" + fault->where + ", which always runs: " + fault->what)
      .withHelp(printsOf(fault->pass));
}

}  // namespace

Error withGuiltyPass(Error error, Model& model, CompileOptions options) {
  const std::vector<std::string> optional = optionalNames(*options.target);
  const auto isRight = [&](size_t passes) -> std::optional<bool> {
    options.passes.bisectLimit = static_cast<int64_t>(passes);
    auto compiled = compile(model, options);
    const Result<CustomFunctions> functions = isolatedFunctions(model, options);
    if (!compiled || !functions) return std::nullopt;
    return verifyPlan(model, **compiled, options.numerics, *functions).has_value();
  };
  size_t right = 0, wrong = optional.size();
  std::optional<bool> middle = isRight(right);
  if (middle == false) return withRequiredPass(std::move(error), model, options);
  while (middle && wrong - right > 1) {
    const size_t half = (right + wrong) / 2;
    middle = isRight(half);
    (middle == true ? right : wrong) = half;
  }
  if (!middle) return error;
  // It may be a later pass that cannot do with what this one leaves.
  std::string pass = optional[right], said = "pass " + pass + " does it";
  options.passes.bisectLimit = static_cast<int64_t>(wrong);
  if (const Result<Fault> fault = firstFault(model, options, pass);
      fault && !fault->pass.empty() && fault->pass != pass)
    said = "pass " + fault->pass + " does it" + fault->where + ", after pass " + pass, pass = fault->pass;
  return std::move(error)
      .withNote(said + ": --bisect-limit " + std::to_string(right) + " is right, " + std::to_string(wrong) + " is not")
      .withHelp(printsOf(pass));
}

}  // namespace svod
