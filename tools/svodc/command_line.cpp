#include "command_line.h"

#include <algorithm>
#include <memory>

#include "lists.h"
#include "response_file.h"
#include "support/suggest.h"

namespace svod {

namespace {

/// By which lists are cut.
constexpr std::string_view kTarget = "target";

/// Whether the command has the flag; svodc without a command has those of all commands, and of lists.
bool knows(const Command* command, const FlagInfo& row) {
  return command == nullptr ? row.commands == All || row.name == kTarget : (row.commands & command->bit) != 0;
}

Error usage(std::string message, const Command* command, std::string help = {}) {
  if (help.empty()) help = command == nullptr ? "svodc --help" : "svodc " + std::string(command->name) + " --help";
  return Error(Diag::Usage, std::move(message), std::move(help));
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

/// Sets the flags, lists and files of `request` from the words behind its command.
Status parseWords(const std::vector<std::string>& words, Request& request) {
  const Command* command = request.command;
  std::vector<CommandFlag> flags;
  for (const FlagInfo& row : allFlags())
    if (knows(command, row)) flags.push_back(row.of(request.flags));
  const std::unique_ptr<bool[]> asked = std::make_unique<bool[]>(allLists().size());
  for (size_t i = 0; i < allLists().size(); ++i)
    flags.push_back({allLists()[i].flag, {}, {}, {}, {}, allLists()[i].what, &asked[i]});
  const std::string program = command == nullptr ? "svodc" : "svodc " + std::string(command->name);
  const size_t most = command == nullptr ? 1 : std::max<size_t>(1, command->most);
  SVOD_CHECK(parseCommandFlags(program, flags, words, request.files, most, &request.variables));
  for (size_t i = 0; i < allLists().size(); ++i)
    if (asked[i]) request.lists.push_back(allLists()[i].name);
  if (request.files.size() > (command == nullptr ? 0 : command->most))
    return fail(usage("there is one word too many: '" + request.files.back() + "'", command));
  return {};
}

}  // namespace

Result<Request> parseCommandLine(const std::vector<std::string>& words, Environment environment) {
  Request request;
  request.environment = std::move(environment);
  SVOD_TRY(request.words, withResponseFiles(words));
  setDefaults(request.flags);
  std::vector<std::string> rest = request.words;
  if (!rest.empty() && (rest[0].empty() || rest[0][0] != '-')) {
    request.command = findCommand(rest[0]);
    if (request.command == nullptr) return fail(unknownCommand(rest[0]));
    rest.erase(rest.begin());
  }
  const std::string preset = std::exchange(request.flags.target, "");
  SVOD_CHECK(parseWords(rest, request));
  // Lists are of all targets where none is named.
  if (request.lists.empty() && request.flags.target.empty()) request.flags.target = preset;

  const bool aside = request.flags.help || request.flags.version || !request.lists.empty();
  if (aside) return request;
  if (request.command == nullptr) return fail(usage("a command is missing", nullptr));
  if (request.files.size() < request.command->files)
    return fail(
        usage("svodc " + std::string(request.command->name) + " needs " + std::string(request.command->arguments),
              request.command));
  return request;
}

}  // namespace svod
