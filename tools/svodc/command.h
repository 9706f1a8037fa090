// The subcommands of svodc as a table, and what a command gets to see.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "console/process.h"
#include "flags.h"
#include "pass/pass.h"
#include "support/result.h"

namespace svod {

struct Command;

/// The part of the environment that is no flag.
struct Environment {
  std::string tempDirectory = "/tmp";
  std::string cacheDirectory;         // empty: the user has none
  std::vector<std::string> forTools;  // "NAME=value" of everything a C compiler may see
  std::string makeFlags;              // MAKEFLAGS: where a make that runs svodc says how many jobs there may be
  bool noColor = false;
};

/// That of this process. Read once per program, or per call of a library.
Environment readEnvironment();

using PassInstrument = decltype(PassOptions::instrument);

/// A command line that was understood.
struct Request {
  const Command* command = nullptr;  // null: only lists, help or version were asked for
  Flags flags;
  std::vector<std::string> files;
  std::vector<std::string> words;       // as they were given, behind "svodc"
  std::vector<std::string_view> lists;  // rows of allLists()
  std::vector<std::string> variables;   // of the environment, that set a flag
  Environment environment;
  InterruptGuard* interrupts = nullptr;  // held while results are put in place; set by runProgram
  PassInstrument instrument;             // for the passes of every compile; of programs that test svodc
};

struct Command {
  std::string_view name, arguments, what;
  CommandBit bit;
  size_t files, most;  // how many words it takes, at least and at most
  /// The exit code, when the command itself reported what is wrong; errors are reported by main.
  Result<int> (*run)(const Request& request, Console& console);
};

std::span<const Command> allCommands();

Result<int> runCompile(const Request& request, Console& console);
Result<int> runInspect(const Request& request, Console& console);
Result<int> runCheck(const Request& request, Console& console);
Result<int> runConvert(const Request& request, Console& console);
Result<int> runTargets(const Request& request, Console& console);
Result<int> runCache(const Request& request, Console& console);
Result<int> runTune(const Request& request, Console& console);
Result<int> runLog(const Request& request, Console& console);

}  // namespace svod
