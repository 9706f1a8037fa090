#include "help.h"

#include "lists.h"

namespace svod {

namespace {

constexpr size_t kIndent = 2, kTextColumn = 30;

std::string entry(const std::string& left, std::string_view right) {
  std::string line = std::string(kIndent, ' ') + left;
  const bool fits = line.size() + 2 <= kTextColumn;
  line += fits ? std::string(kTextColumn - line.size(), ' ') : "\n" + std::string(kTextColumn, ' ');
  return line + std::string(right) + "\n";
}

std::string flagForm(const FlagInfo& row) {
  std::string text;
  if (!row.shortName.empty()) text = "-" + std::string(row.shortName) + ", ";
  text += "--" + std::string(row.name);
  return row.value.empty() ? text : text + " " + std::string(row.value);
}

std::string flagEntry(const FlagInfo& row) {
  std::string what(row.what);
  if (!row.preset.empty()) what += " (" + std::string(row.preset) + ")";
  if (row.type == FlagType::List) what += "; may be repeated";
  if (!row.env.empty()) what += " [" + std::string(row.env) + "]";
  return entry(flagForm(row), what);
}

std::string listNames() {
  std::string names;
  for (const List& list : allLists()) names += (names.empty() ? "" : "|") + std::string(list.name);
  return names;
}

}  // namespace

std::string helpText(const Command* command) {
  std::string text;
  if (command == nullptr) {
    text = "usage: svodc COMMAND ...\n\ncommands:\n";
    for (const Command& c : allCommands()) text += entry(std::string(c.name) + " " + std::string(c.arguments), c.what);
    text += "\nsvodc COMMAND --help shows the flags of a command.\n\nlists:\n";
    for (const List& list : allLists()) text += entry("--list-" + std::string(list.name), list.what);
    text += "\nflags:\n";
  } else {
    text = "usage: svodc " + std::string(command->name) + " " + std::string(command->arguments) + " [FLAG]...\n\n" +
           std::string(command->what) + ". A GRAPH of - is read from stdin.\n\nflags:\n";
  }
  for (const FlagInfo& row : allFlags())
    if (command == nullptr ? row.commands == All : (row.commands & command->bit) != 0) text += flagEntry(row);
  if (command != nullptr) text += entry("--list-NAME", listNames());
  return text + "\nA value in parentheses is the default, a name in brackets an environment variable with the same meaning.\n";
}

}  // namespace svod
