// Response files: words of the command line that stand in files, @FILE.
#pragma once
#include <string>
#include <vector>

#include "support/result.h"

namespace svod {

/// `words` with every @FILE replaced by the words of that file, which may name further files. They are separated by
/// white space; quotes of either kind hold words together, and outside of single quotes a backslash takes the next
/// character as it is. Errors: Io; Usage for a quote without end and for files that name each other.
Result<std::vector<std::string>> withResponseFiles(const std::vector<std::string>& words);

}  // namespace svod
