#include "runtime-min/api_error.h"

#include <cstring>

namespace svod {

namespace {

/// Cuts at the end of a character, not inside one.
void copyText(char* to, size_t room, std::string_view text) {
  size_t length = std::min(text.size(), room - 1);
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) length--;
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

}  // namespace

int report(const Error& from, svod_error* to) {
  const DiagInfo& row = info(from.diag);
  if (to != nullptr) {
    to->exit_code = row.exitCode;
    copyText(to->code, sizeof to->code, row.code);
    copyText(to->message, sizeof to->message, from.message);
    copyText(to->help, sizeof to->help, from.help);
  }
  return row.exitCode;
}

Status checkIndex(size_t index, size_t count, const char* what) {
  if (index < count) return {};
  return fail(Diag::UnknownPort, std::string("there is no ") + what + " " + std::to_string(index) + ": the plan has " +
                                     std::to_string(count));
}

Status checkIdle(const svod_instance* instance) {
  if (instance->inner->submission().isIdle()) return {};
  return fail(Diag::Usage, "the instance has a submitted run", "call svod_wait first, or use another instance");
}

}  // namespace svod
