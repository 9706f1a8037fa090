// Running code that may crash in a process of its own.
#pragma once
#include <functional>
#include <string>

#include "support/result.h"

namespace svod {

/// What `body` returns, computed by a copy of this process that ends afterwards. Errors: the child crashed,
/// took longer than a minute, or ended by itself; the message says where (`whereIs` names an address) and
/// what it printed to stderr. The calling process must have one thread; `body` may start more.
Result<std::string> inChild(const std::function<std::string()>& body,
                            const std::function<std::string(uintptr_t address)>& whereIs);

}  // namespace svod
