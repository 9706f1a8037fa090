// An Error as the svod_error of C interfaces.
#pragma once
#include <cstddef>
#include <string_view>

#include "support/result.h"
#include "svod/runtime.h"

namespace svod {

/// The exit code; `to` may be null.
int report(const Error& from, svod_error* to);
int fillError(svod_error* to, Diag diag, std::string_view message, std::string_view help);

/// At most `room` bytes with a 0 at the end, cut at the end of a character; nothing without room.
void copyText(char* to, size_t room, std::string_view text);

}  // namespace svod
