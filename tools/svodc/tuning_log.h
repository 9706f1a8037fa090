// Tuning logs of the command line.
#pragma once
#include <string_view>

#include "console/console.h"
#include "driver/applied_log.h"
#include "report/document.h"
#include "tune/logs.h"

namespace svod {

Warns warningsOf(Console& console);
/// Limits with which waiting for a log is told.
LogLimits waitingWith(Console& console);

/// What `svodc log stats`, `best` and `diff` show. `compiler`: this one; records of others are hints.
Document statsOf(const AppliedLog& applied, std::string_view compiler);
Document bestTable(const AppliedLog& applied, std::string_view compiler);
Document differences(const TuningLog& before, const TuningLog& after, std::string_view compiler);

}  // namespace svod
