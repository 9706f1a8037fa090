// Tuning logs of the command line.
#pragma once
#include <span>
#include <string>

#include "console/console.h"
#include "driver/applied_log.h"
#include "report/document.h"
#include "tuning/log_file.h"

namespace svod {

/// Warns of lines that are no records. Errors: Io; Unsupported for records of a later form.
Result<TuningLog> readTuningLog(const std::string& path, Console& console);
/// The same for logs of attempts: warns of files that are none, as a node that loses its power may leave them.
Result<TuningLog> readAttempts(std::span<const std::string> paths, Console& console);
/// The same for a file, or a folder of tuning work: all that its units measured.
Result<TuningLog> readLogs(const std::string& path, Console& console);

/// Limits with which waiting for a log is told.
LogLimits waitingWith(Console& console);

/// What `svodc log stats`, `best` and `diff` show. `compiler`: this one; records of others are hints.
Document statsOf(const AppliedLog& applied, std::string_view compiler);
Document bestTable(const AppliedLog& applied, std::string_view compiler);
Document differences(const TuningLog& before, const TuningLog& after, std::string_view compiler);

}  // namespace svod
