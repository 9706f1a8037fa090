// Input of tuning logs as they come: whole, with lines that are no records, or as many files of units of work.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "tuning/log_file.h"

namespace svod {

/// Who is told of what a result leaves out.
using Warns = std::function<void(const Error&)>;

/// Warns of lines that are no records. Errors: Io; Unsupported for records of a later form.
Result<TuningLog> readTuningLog(const std::string& path, const Warns& warns);
/// The same for logs of attempts: warns of files that are none, as a node that loses its power may leave them.
Result<TuningLog> readAttempts(std::span<const std::string> paths, const Warns& warns);
/// The same for a file, or a folder of tuning work: all that its units measured.
Result<TuningLog> readLogs(const std::string& path, const Warns& warns);

}  // namespace svod
