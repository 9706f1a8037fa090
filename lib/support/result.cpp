#include "support/result.h"

#include <algorithm>

#include "support/error_text.h"
#include "support/text.h"
#include "support/utf8.h"

namespace svod {

namespace {

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return !isInsideCharacter(c); }));
}

/// The line, and a caret below the column.
std::string excerpt(const SourceLoc& place) {
  if (place.before.empty() && place.behind.empty()) return {};
  std::string before = place.before, behind = place.behind;
  for (std::string* text : {&before, &behind}) std::ranges::replace(*text, '\t', ' ');
  before = printable(before);
  const std::string number = std::to_string(place.line);
  return "\n  " + number + " | " + before + printable(behind) + "\n  " + std::string(number.size(), ' ') + " | " +
         std::string(characters(before), ' ') + "^";
}

}  // namespace

Error::Error(Diag diag, std::string_view message, std::string_view help, SourceLoc loc)
    : says_(new ErrorText{diag, std::string(message), std::string(help), std::move(loc), {}}) {}

Error::Error(const Error& other) : says_(other.says_ != nullptr ? new ErrorText(*other.says_) : nullptr) {}

void Error::forget(ErrorText* says) noexcept { delete says; }

tl::unexpected<Error> fail(Diag diag, std::string_view message, std::string_view help) {
  return tl::unexpected<Error>(Error(diag, message, help));
}

std::string toText(const Error& error) { return toText(error, "error:"); }

std::string toText(const Error& error, std::string_view severity) {
  std::string out;
  if (!error->loc.file.empty()) {
    out += printable(error->loc.file) + ":";
    if (error->loc.line > 0) out += std::to_string(error->loc.line) + ":" + std::to_string(error->loc.column) + ":";
    out += " ";
  }
  out += std::string(severity) + " " + printable(error->message) + " [" + std::string(info(error->diag).code) + "]";
  out += excerpt(error->loc);
  for (const std::string& note : error->notes) out += "\n  note: " + printable(note);
  if (!error->help.empty()) out += "\n  help: " + printable(error->help);
  return out;
}

}  // namespace svod
