// What linkers take besides objects, and what they see of them.
#pragma once
#include <span>
#include <string>

#include "support/result.h"

namespace svod {

/// The object with all symbols that it defines its own, but for `seen`. Errors: CompileFailed with LLVM's message.
Result<std::string> withLocalSymbols(const std::string& object, std::span<const std::string> seen);

/// The object with `suffix` behind the names of all symbols that others see and that it defines. Errors: CompileFailed.
Result<std::string> withSuffixedSymbols(const std::string& object, const std::string& suffix);

/// A static library with one object, called `member` in it. No time, user or mode is in it.
Result<std::string> staticLibrary(const std::string& object, const std::string& member);

}  // namespace svod
