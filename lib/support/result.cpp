#include "support/result.h"

#include "support/error_text.h"
#include "support/text.h"

namespace svod {

std::string toText(const Error& error) { return toText(error, "error:"); }

std::string toText(const Error& error, std::string_view severity) {
  std::string out;
  if (!error.loc.file.empty()) {
    out += printable(error.loc.file) + ":";
    if (error.loc.line > 0) out += std::to_string(error.loc.line) + ":" + std::to_string(error.loc.column) + ":";
    out += " ";
  }
  out += std::string(severity) + " " + printable(error.message) + " [" + std::string(info(error.diag).code) + "]";
  for (const std::string& note : error.notes) out += "\n  note: " + printable(note);
  if (!error.help.empty()) out += "\n  help: " + printable(error.help);
  return out;
}

}  // namespace svod
