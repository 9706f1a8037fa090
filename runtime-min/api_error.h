// How functions of the C interface end: a Status becomes an exit code and a filled svod_error.
#pragma once
#include "runtime-min/handles.h"

namespace svod {

/// The exit code; `to` may be null.
int report(const Error& from, svod_error* to);

/// At most `room` bytes with a 0 at the end, cut at the end of a character; nothing without room.
void copyText(char* to, size_t room, std::string_view text);

Status checkIndex(size_t index, size_t count, const char* what);

/// The caller may use the instance: no submitted run does.
Status checkIdle(const svod_instance* instance);

/// Runs `body`, which returns a Status.
template <class Body>
int guard(svod_error* error, Body body) noexcept {
  const Status status = body();
  return status ? 0 : report(status.error(), error);
}

}  // namespace svod
