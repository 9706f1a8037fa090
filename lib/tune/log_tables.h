// Tables of tuning logs.
#pragma once
#include <string_view>

#include "driver/applied_log.h"
#include "report/document.h"

namespace svod {

/// What `svodc log stats`, `best` and `diff` show. `compiler`: this one; records of others are hints.
Document statsOf(const AppliedLog& applied, std::string_view compiler);
Document bestTable(const AppliedLog& applied, std::string_view compiler);
Document differences(const TuningLog& before, const TuningLog& after, std::string_view compiler);

}  // namespace svod
