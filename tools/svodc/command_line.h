// Parsing of the command line, from argv to a Request.
#pragma once
#include <string>
#include <vector>

#include "command.h"

namespace svod {

/// `words` are the arguments without the program's name; @FILE stands for the words of that file. Errors: Usage, with
/// the nearest known name.
Result<Request> parseCommandLine(const std::vector<std::string>& words, Environment environment);

}  // namespace svod
