#include "flags.h"

namespace svod {

namespace {

constexpr FlagInfo kFlags[] = {
#define FLAG(member, name, shortName, type, value, preset, commands, output, env, what) \
  {name, shortName, value, preset, commands, output, env, what, &Flags::member},
#include "flags.def"
#undef FLAG
};

}  // namespace

std::span<const FlagInfo> allFlags() { return kFlags; }

CommandFlag FlagInfo::of(Flags& flags) const {
  CommandFlag row{name, shortName, value, preset, env, what, {}};
  std::visit([&](auto pointer) { row.into = &(flags.*pointer); }, member);
  return row;
}

}  // namespace svod
