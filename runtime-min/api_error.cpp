#include "runtime-min/api_error.h"
#include "support/says.h"

#include <cstring>

namespace svod {

void copyText(char* to, size_t room, std::string_view text) {
  if (room == 0) return;
  size_t length = std::min(text.size(), room - 1);
  while (length > 0 && length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) length--;
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

namespace {

int fill(svod_error* to, Diag diag, std::string_view message, std::string_view help) {
  const DiagInfo& row = info(diag);
  if (to != nullptr) {
    to->exit_code = row.exitCode;
    copyText(to->code, sizeof to->code, row.code);
    copyText(to->message, sizeof to->message, message);
    copyText(to->help, sizeof to->help, help);
  }
  return row.exitCode;
}

}  // namespace

int report(const Error& from, svod_error* to) { return fill(to, from->diag, from->message, from->help); }

Status checkIndex(size_t index, size_t count, const char* what) {
  if (index < count) return {};
  return fail(Diag::UnknownPort, says({"there is no ", what, " ", index, ": the plan has ", count}));
}

Status checkIdle(const svod_instance* instance) {
  if (instance->inner->submission().isIdle()) return {};
  return fail(Diag::Usage, "the instance has a submitted run", "call svod_wait first, or use another instance");
}

}  // namespace svod
