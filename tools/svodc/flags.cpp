#include "flags.h"

namespace svod {

namespace {

constexpr FlagInfo bound(FlagInfo row, bool Flags::*member) { return row.toggle = member, row; }
constexpr FlagInfo bound(FlagInfo row, std::string Flags::*member) { return row.text = member, row; }
constexpr FlagInfo bound(FlagInfo row, int64_t Flags::*member) { return row.number = member, row; }
constexpr FlagInfo bound(FlagInfo row, std::vector<std::string> Flags::*member) { return row.list = member, row; }

constexpr FlagInfo kFlags[] = {
#define FLAG(member, name, shortName, type, value, preset, commands, output, env, what) \
  bound({name, shortName, FlagType::type, value, preset, commands, output, env, what}, &Flags::member),
#include "flags.def"
#undef FLAG
};

}  // namespace

std::span<const FlagInfo> allFlags() { return kFlags; }

}  // namespace svod
