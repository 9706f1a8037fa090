#include "support/result.h"

namespace svod {

std::string toText(const Error& error) {
  std::string out;
  if (!error.loc.file.empty()) {
    out += error.loc.file + ":";
    if (error.loc.line > 0) out += std::to_string(error.loc.line) + ":" + std::to_string(error.loc.column) + ":";
    out += " ";
  }
  out += "error: " + error.message + " [" + std::string(info(error.diag).code) + "]";
  for (const std::string& note : error.notes) out += "\n  note: " + note;
  if (!error.help.empty()) out += "\n  help: " + error.help;
  return out;
}

}  // namespace svod
