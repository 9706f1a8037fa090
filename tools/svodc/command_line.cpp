#include "command_line.h"

#include <CLI/CLI.hpp>

#include "lists.h"
#include "support/suggest.h"

namespace svod {

namespace {

std::string optionNames(const FlagInfo& flag) {
  std::string names = "--" + std::string(flag.name);
  return flag.shortName.empty() ? names : "-" + std::string(flag.shortName) + "," + names;
}

/// Whether the command has the flag; svodc without a command has those of all commands.
bool knows(const Command* command, const FlagInfo& row) {
  return command == nullptr ? row.commands == All : (row.commands & command->bit) != 0;
}

/// Adds the rows of flags.def that `command` knows. Values start at their defaults; CLI11 lets the flag win over the
/// environment variable.
void addFlags(CLI::App& app, Flags& flags, const Command* command) {
  for (const FlagInfo& row : allFlags()) {
    if (!knows(command, row)) continue;
    CLI::Option* option = nullptr;
    switch (row.type) {
      case FlagType::Switch: option = app.add_flag(optionNames(row), flags.*row.toggle); break;
      case FlagType::Text: option = app.add_option(optionNames(row), flags.*row.text); break;
      case FlagType::Number: option = app.add_option(optionNames(row), flags.*row.number); break;
      case FlagType::List:
        option = app.add_option(optionNames(row), flags.*row.list)->allow_extra_args(false)->expected(1, 1 << 20);
        break;
    }
    if (row.type == FlagType::Text || row.type == FlagType::Number) option->take_last();
    if (!row.env.empty()) option->envname(std::string(row.env));
  }
}

void setDefaults(Flags& flags) {
  for (const FlagInfo& row : allFlags()) {
    if (row.type == FlagType::Text) flags.*row.text = row.preset;
    if (row.type == FlagType::Number) flags.*row.number = std::stoll(std::string(row.preset));
  }
}

void addLists(CLI::App& app, std::vector<std::string_view>& asked) {
  for (const List& list : allLists())
    app.add_flag_callback("--list-" + std::string(list.name), [&asked, &list] { asked.push_back(list.name); });
}

Error usage(std::string message, const Command* command, std::string help = {}) {
  if (help.empty()) help = command == nullptr ? "svodc --help" : "svodc " + std::string(command->name) + " --help";
  return Error{Diag::Usage, std::move(message), std::move(help), {}, {}};
}

/// What is wrong with the first word that no flag or file took.
Error unknownWord(const std::string& word, const Command* command) {
  if (word.size() < 2 || word[0] != '-') return usage("there is one word too many: '" + word + "'", command);
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const FlagInfo& row : allFlags())
    if (command == nullptr || knows(command, row)) known.push_back("--" + std::string(row.name));
  for (const List& list : allLists()) known.push_back("--list-" + std::string(list.name));
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string where = command == nullptr ? "svodc" : "svodc " + std::string(command->name);
  return usage(where + " has no flag '" + name + "'", command, didYouMean(name, candidates));
}

Error unknownCommand(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command& c : allCommands()) names.push_back(c.name);
  return usage("there is no command '" + word + "'", nullptr, didYouMean(word, names));
}

const Command* findCommand(const std::string& name) {
  for (const Command& c : allCommands())
    if (c.name == name) return &c;
  return nullptr;
}

/// CLI11 reports by exceptions; this is the one place that sees them.
Status parseWords(CLI::App& app, std::vector<std::string> words, const Command* command) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return fail(usage(error.what(), command));
  }
  for (const std::string& word : app.remaining()) return fail(unknownWord(word, command));
  return {};
}

}  // namespace

Result<Request> parseCommandLine(const std::vector<std::string>& words, Environment environment) {
  Request request;
  request.environment = std::move(environment);
  setDefaults(request.flags);
  std::vector<std::string> rest = words;
  if (!rest.empty() && (rest[0].empty() || rest[0][0] != '-')) {
    request.command = findCommand(rest[0]);
    if (request.command == nullptr) return fail(unknownCommand(rest[0]));
    rest.erase(rest.begin());
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  addFlags(app, request.flags, request.command);
  addLists(app, request.lists);
  if (request.command != nullptr) app.add_option("file", request.files)->allow_extra_args(false);
  SVOD_CHECK(parseWords(app, std::move(rest), request.command));

  const bool aside = request.flags.help || request.flags.version || !request.lists.empty();
  if (aside) return request;
  if (request.command == nullptr) return fail(usage("a command is missing", nullptr));
  if (request.files.size() < request.command->files)
    return fail(usage("svodc " + std::string(request.command->name) + " needs " +
                          std::string(request.command->arguments), request.command));
  return request;
}

}  // namespace svod
