#include "tune_settings.h"

#include <algorithm>

namespace svod {

namespace {

bool isPlanned(const FlagInfo& row) {
  return (row.commands & Tune) != 0 && (row.changes == Changes::Output || row.changes == Changes::Search);
}

/// Whether there is one for the flag, of its kind.
bool takeSetting(const std::vector<WorkSetting>& settings, const FlagInfo& row, Flags& flags) {
  const auto found = std::ranges::find(settings, row.name, &WorkSetting::name);
  if (found == settings.end()) return false;
  const auto take = [&](auto member) {
    auto& into = flags.*member;
    const auto* value = std::get_if<std::remove_reference_t<decltype(into)>>(&found->value);
    if (value != nullptr) into = *value;
    return value != nullptr;
  };
  return std::visit(take, row.member);
}

}  // namespace

std::vector<WorkSetting> plannedSettings(const Flags& flags) {
  std::vector<WorkSetting> all;
  for (const FlagInfo& row : allFlags())
    if (isPlanned(row))
      std::visit(
          [&](auto member) { all.push_back({std::string(row.name), flags.*member, row.changes == Changes::Search}); },
          row.member);
  return all;
}

Status takeSettings(const TuneWork& work, Flags& flags) {
  setDefaults(flags);
  for (const FlagInfo& row : allFlags())
    if (isPlanned(row) && !takeSetting(work.settings, row, flags))
      return fail(Diag::Syntax, "plan.json of the work is damaged: '" + std::string(row.name) + "' is missing or wrong",
                  "plan the work again");
  return {};
}

}  // namespace svod
