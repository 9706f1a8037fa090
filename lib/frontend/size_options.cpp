#include "frontend/size_options.h"

#include <map>

namespace svod {

namespace {

// How often forms of options use each name.
std::map<std::string, int> namesUsed(const LoadOptions& options) {
  std::map<std::string, int> uses;
  auto use = [&](const SizeForm& form) {
    for (const auto& [name, times] : form.factors) ++uses[name];
  };
  for (const VariableOption& o : options.variables)
    if (o.form) use(*o.form);
  for (const auto& [input, dims] : options.shapes)
    for (const SizeForm& dim : dims) use(dim);
  return uses;
}

bool hasBounds(const LoadOptions& options, const std::string& name) {
  for (const VariableOption& o : options.variables)
    if (o.name == name && (o.min || o.value)) return true;
  return false;
}

}  // namespace

void applyVariableOptions(SizeVariables& sizes, const LoadOptions& options, const SizeOptionHooks& hooks) {
  const std::map<std::string, int> uses = namesUsed(options);
  auto isKnown = [&](const std::string& name) { return sizes.isDeclared(name) || uses.contains(name); };
  for (const VariableOption& o : options.variables) {
    if (!isKnown(o.name)) {
      hooks.record(hooks.unknown(o.name));
      continue;
    }
    const std::string from = "--var " + o.name + "=";
    if (o.min) sizes.bound(o.name, {*o.min, *o.max});
    if (o.likely) sizes.prefer(o.name, *o.likely);
    if (o.value) hooks.bind(o.name, *o.value, from + std::to_string(*o.value));
    if (!o.form) continue;
    // A new name for one dim is a typing mistake more often than a wish.
    const std::string* alone = o.form->asVariable();
    if (alone && !sizes.isDeclared(*alone) && uses.at(*alone) == 1 && !hasBounds(options, *alone)) {
      hooks.record(hooks.unknown(*alone).withHelp("to rename '" + o.name +
                                                  "', give the new name bounds as well: --var " + *alone + "=MIN:MAX"));
      continue;
    }
    if (Status made = sizes.equate(SizeForm::variable(o.name), *o.form, from + toText(*o.form)); !made)
      hooks.record(std::move(made.error()));
  }
}

Error fixedDimError(const std::string& from, const std::string& input, int axis, const std::string& declared,
                    const SizeForm& wanted, std::string help) {
  return {
      Diag::ShapeMismatch,
      from + ": axis " + std::to_string(axis) + " of input '" + input + "' is " + declared + ", not " + toText(wanted),
      std::move(help)};
}

}  // namespace svod
