#include "runtime-min/report_error.h"

#include <algorithm>
#include <cstring>

namespace svod {

void copyText(char* to, size_t room, std::string_view text) {
  if (room == 0) return;
  size_t length = std::min(text.size(), room - 1);
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) length--;
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

int fillError(svod_error* to, Diag diag, std::string_view message, std::string_view help) {
  const DiagInfo& row = info(diag);
  if (to != nullptr) {
    to->exit_code = row.exitCode;
    copyText(to->code, sizeof to->code, row.code);
    copyText(to->message, sizeof to->message, message);
    copyText(to->help, sizeof to->help, help);
  }
  return row.exitCode;
}

int report(const Error& from, svod_error* to) { return fillError(to, from->diag, from->message, from->help); }

}  // namespace svod
