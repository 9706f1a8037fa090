// Status of distributed tuning: how far its units are.
#pragma once
#include <string>

#include "report/document.h"
#include "tune/logs.h"
#include "tune/units.h"

namespace svod {

/// Warns of damaged units, and of logs that are read in part. Errors: of reading logs.
Result<Document> statusOf(const TuneWork& work, const std::string& folder, const Warns& warns);

}  // namespace svod
