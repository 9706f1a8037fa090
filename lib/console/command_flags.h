// Flags as rows: parsed, described and suggested by the same code in every program.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/result.h"

namespace svod {

/// One flag and the variable it sets, which holds the default before.
struct CommandFlag {
  std::string_view name, shortName;  // without dashes; "" for no short name. Of several letters: a word of its own, -MF
  std::string_view value;            // such as "FILE"; "" for a switch
  std::string_view preset;           // the default for the help; "" for none
  std::string_view env;              // the environment variable with the same meaning, or ""
  std::string_view what;
  std::variant<bool*, std::string*, int64_t*, double*, std::vector<std::string>*> into;
};

/// The words of a command line behind `program` (such as "svodc compile"): flags are set, other words, `mostFiles` of
/// them, are appended to `files`. A flag wins over its variable; `variables`, if it is not null, gets the names of
/// those that set one. Errors: Usage, with the nearest known flag.
Status parseCommandFlags(const std::string& program, std::span<const CommandFlag> flags,
                         const std::vector<std::string>& words, std::vector<std::string>& files, size_t mostFiles = 1,
                         std::vector<std::string>* variables = nullptr);

/// A line of a help text: `left` and, in a column of its own, what it means.
std::string helpEntry(const std::string& left, std::string_view what);
/// Sentences in lines of their own.
std::string helpParagraph(std::string_view text);
/// Lines for all flags, and what their brackets mean.
std::string helpEntries(std::span<const CommandFlag> flags);
inline constexpr std::string_view kHelpLegend =
    "\nA value in parentheses is the default, a name in brackets an environment\n"
    "variable with the same meaning.\n";

}  // namespace svod
