#include "console/command_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iterator>

#include "support/suggest.h"

namespace svod {

namespace {

constexpr size_t kIndent = 2, kTextColumn = 30, kWidth = 80;

bool isList(const CommandFlag& flag) { return std::holds_alternative<std::vector<std::string>*>(flag.into); }

std::string dashed(const CommandFlag& flag) { return "--" + std::string(flag.name); }

Error usage(const std::string& program, std::string message, std::string help = {}) {
  if (help.empty()) help = program + " --help lists what there is";
  return Error(Diag::Usage, std::move(message), std::move(help));
}

/// In lines that end before column kWidth, between words; all but the first begin in `column`.
std::string wrapped(std::string_view text, size_t column) {
  const size_t room = kWidth - column;
  std::string lines;
  while (text.size() > room) {
    size_t cut = text.rfind(' ', room);
    if (cut == text.npos) cut = text.find(' ');
    if (cut == text.npos) break;
    lines += std::string(text.substr(0, cut)) + "\n" + std::string(column, ' ');
    text.remove_prefix(cut + 1);
  }
  return lines + std::string(text);
}

std::string flagForm(const CommandFlag& flag) {
  std::string text = flag.shortName.empty() ? "" : "-" + std::string(flag.shortName) + ", ";
  text += dashed(flag);
  return flag.value.empty() ? text : text + " " + std::string(flag.value);
}

/// Numbers are decimal, however many zeros they begin with, and nothing is no number. Refused texts stand behind " = ",
/// as in CLI11's own messages of conversions: explained() reads both.
const CLI::Validator kDecimal(
    [](std::string& text) {
      int64_t number = 0;
      const char* end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, number);
      if (read.ec != std::errc() || read.ptr != end) return "no whole number of 64 bits = " + text;
      text = std::to_string(number);
      return std::string();
    },
    "");

CLI::Option* addFlag(CLI::App& app, const CommandFlag& flag) {
  const std::string names = (flag.shortName.size() != 1 ? "" : "-" + std::string(flag.shortName) + ",") + dashed(flag);
  CLI::Option* option = std::visit(
      [&](auto* into) {
        if constexpr (std::is_same_v<decltype(into), bool*>)
          return app.add_flag(names, *into);
        else if constexpr (std::is_integral_v<std::remove_pointer_t<decltype(into)>>)
          return app.add_option(names, *into)->transform(kDecimal);
        else
          return app.add_option(names, *into);
      },
      flag.into);
  if (isList(flag))
    option->allow_extra_args(false);  // one value each time it is named
  else if (!flag.value.empty())
    option->take_last();
  if (!flag.env.empty()) option->envname(std::string(flag.env));
  return option;
}

/// The flag that an exception of CLI11 is about. Its messages begin with the name of the option, or hold it.
const CommandFlag* flagIn(const std::string& message, std::span<const CommandFlag> flags) {
  const CommandFlag* found = nullptr;
  for (const CommandFlag& flag : flags)
    if (message.find(dashed(flag)) != std::string::npos && (!found || flag.name.size() > found->name.size()))
      found = &flag;
  return found;
}

Error explained(const std::string& program, std::span<const CommandFlag> flags, const CLI::ParseError& error) {
  const std::string message = error.what();
  const CommandFlag* flag = flagIn(message, flags);
  if (flag == nullptr) return usage(program, message);
  std::string about = flagForm(*flag) + ": " + std::string(flag->what);
  if (!flag->env.empty()) about += "; " + std::string(flag->env) + " sets it too";
  if (flag->value.empty()) return usage(program, dashed(*flag) + " is on or off and takes no such value", about);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return usage(program, dashed(*flag) + " needs " + std::string(flag->value), about);
  const size_t equals = message.find(" = ");
  const std::string got = equals == std::string::npos ? "" : ", not '" + message.substr(equals + 3) + "'";
  const bool whole = std::holds_alternative<int64_t*>(flag->into);
  return usage(program, dashed(*flag) + " needs a " + (whole ? "whole number" : "number") + got, about);
}

/// Those that set a flag which no word did.
std::vector<std::string> variablesThatSet(const CLI::App& app, std::span<CLI::Option* const> options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options)
    if (option->count() > 0 && std::ranges::find(app.parse_order(), option) == app.parse_order().end())
      names.push_back(option->get_envname());
  return names;
}

/// CLI11 knows short names of one letter: longer ones become long names.
std::string longForm(const std::string& word, std::span<const CommandFlag> flags) {
  for (const CommandFlag& flag : flags)
    if (flag.shortName.size() > 1 && word == "-" + std::string(flag.shortName)) return dashed(flag);
  return word;
}

Error unknownFlag(const std::string& program, std::span<const CommandFlag> flags, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const CommandFlag& flag : flags) known.push_back(dashed(flag));
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return usage(program, program + " has no flag '" + name + "'", didYouMean(name, candidates));
}

}  // namespace

Status parseCommandFlags(const std::string& program, std::span<const CommandFlag> flags,
                         const std::vector<std::string>& words, std::vector<std::string>& files, size_t mostFiles,
                         std::vector<std::string>* variables) {
  const auto end = std::ranges::find(words, "--");  // of the flags
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.add_option("file", files)->allow_extra_args(false);
  std::vector<CLI::Option*> options;
  for (const CommandFlag& flag : flags) options.push_back(addFlag(app, flag));
  try {
    std::vector<std::string> reversed;  // CLI11 takes them from the back
    for (auto word = std::make_reverse_iterator(end); word != words.rend(); ++word)
      reversed.push_back(longForm(*word, flags));
    app.parse(std::move(reversed));
    if (variables != nullptr) *variables = variablesThatSet(app, options);
  } catch (const CLI::ParseError& error) {
    return fail(explained(program, flags, error));
  }
  std::vector<std::string> others = app.remaining();
  for (const std::string& word : others)
    if (word.size() > 1 && word[0] == '-') return fail(unknownFlag(program, flags, word));
  if (end != words.end()) others.insert(others.end(), end + 1, words.end());
  for (const std::string& word : others) {
    if (files.size() == mostFiles) return fail(usage(program, "there is one word too many: '" + word + "'"));
    files.push_back(word);
  }
  return {};
}

std::string helpEntry(const std::string& left, std::string_view what) {
  std::string line = std::string(kIndent, ' ') + left;
  const bool fits = line.size() + 2 <= kTextColumn;
  line += fits ? std::string(kTextColumn - line.size(), ' ') : "\n" + std::string(kTextColumn, ' ');
  return line + wrapped(what, kTextColumn) + "\n";
}

std::string helpParagraph(std::string_view text) { return wrapped(text, 0) + "\n"; }

std::string helpEntries(std::span<const CommandFlag> flags) {
  std::string text;
  for (const CommandFlag& flag : flags) {
    std::string what(flag.what);
    if (!flag.preset.empty()) what += " (" + std::string(flag.preset) + ")";
    if (isList(flag)) what += "; may be repeated";
    if (!flag.env.empty()) what += " [" + std::string(flag.env) + "]";
    text += helpEntry(flagForm(flag), what);
  }
  return text;
}

}  // namespace svod
