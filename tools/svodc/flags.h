// The flags as values, and their table.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "console/command_flags.h"

namespace svod {

enum CommandBit : uint32_t {
  Compile = 1,
  Inspect = 2,
  Check = 4,
  Convert = 8,
  Targets = 16,
  Cache = 32,
  Log = 64,
  Tune = 128
};
using CommandBits = uint32_t;
inline constexpr CommandBits Build = Compile | Inspect | Tune, All = ~CommandBits{0};

/// What has to be the same for the same results.
enum class Changes : uint8_t {
  Nothing,
  Output,  // what is compiled
  Search,  // what svodc tune measures, and how
  Units,   // what svodc tune plan makes units of
};

namespace detail {
using Switch = bool;
using Text = std::string;
using Number = int64_t;
using List = std::vector<std::string>;
}  // namespace detail

/// One member per row of flags.def, with the row's default until the command line was read.
struct Flags {
#define FLAG(member, name, shortName, type, value, preset, commands, changes, env, what) detail::type member{};
#include "flags.def"
#undef FLAG
};

struct FlagInfo {
  std::string_view name, shortName, value, preset;
  CommandBits commands;
  Changes changes;
  std::string_view env, what;
  std::variant<bool Flags::*, std::string Flags::*, int64_t Flags::*, std::vector<std::string> Flags::*> member;

  /// The row for one command line.
  CommandFlag of(Flags& flags) const;
};

std::span<const FlagInfo> allFlags();

/// Texts and numbers as their rows say.
void setDefaults(Flags& flags);

}  // namespace svod
