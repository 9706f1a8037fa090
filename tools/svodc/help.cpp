#include "help.h"

#include "lists.h"

namespace svod {

namespace {

std::vector<CommandFlag> flagsOf(const Command* command, Flags& flags) {
  std::vector<CommandFlag> rows;
  for (const FlagInfo& row : allFlags())
    if (command == nullptr ? row.commands == All : (row.commands & command->bit) != 0) rows.push_back(row.of(flags));
  return rows;
}

std::string listNames() {
  std::string names;
  for (const List& list : allLists()) names += (names.empty() ? "" : ", ") + std::string(list.name);
  return names;
}

}  // namespace

std::string helpText(const Command* command) {
  std::string text;
  if (command == nullptr) {
    text = "usage: svodc COMMAND ...\n\ncommands:\n";
    for (const Command& c : allCommands())
      text += helpEntry(std::string(c.name) + " " + std::string(c.arguments), c.what);
    text += "\nsvodc COMMAND --help shows the flags of a command.\n\nlists:\n";
    for (const List& list : allLists()) text += helpEntry("--" + std::string(list.flag), list.what);
    text += "\nflags:\n";
  } else {
    const std::string arguments = command->arguments.empty() ? "" : " " + std::string(command->arguments);
    const bool takesGraph = arguments.find("GRAPH") != std::string::npos;
    text = "usage: svodc " + std::string(command->name) + arguments + " [FLAG]...\n\n" +
           helpParagraph(std::string(command->what) + (takesGraph ? ". A GRAPH of - is read from stdin." : ".")) +
           "\nflags:\n";
  }
  Flags unused;
  text += helpEntries(flagsOf(command, unused));
  if (command != nullptr) text += helpEntry("--list-NAME", listNames());
  return text + std::string(kHelpLegend);
}

}  // namespace svod
