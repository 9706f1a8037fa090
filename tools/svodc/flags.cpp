#include "flags.h"

namespace svod {

namespace {

constexpr FlagInfo kFlags[] = {
#define FLAG(member, name, shortName, type, value, preset, commands, changes, env, what) \
  {name, shortName, value, preset, commands, Changes::changes, env, what, &Flags::member},
#include "flags.def"
#undef FLAG
};

}  // namespace

std::span<const FlagInfo> allFlags() { return kFlags; }

void setDefaults(Flags& flags) {
  for (const FlagInfo& row : allFlags()) {
    if (auto text = std::get_if<std::string Flags::*>(&row.member)) flags.** text = row.preset;
    if (auto number = std::get_if<int64_t Flags::*>(&row.member)) flags.** number = std::stoll(std::string(row.preset));
  }
}

CommandFlag FlagInfo::of(Flags& flags) const {
  CommandFlag row{name, shortName, value, preset, env, what, {}};
  std::visit([&](auto pointer) { row.into = &(flags.*pointer); }, member);
  return row;
}

}  // namespace svod
