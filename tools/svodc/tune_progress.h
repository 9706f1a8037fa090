// Progress reports of svodc tune.
#pragma once
#include <string>

#include "console/console.h"
#include "tune/progress.h"

namespace svod {

enum class ProgressForm : uint8_t { Text, Json };
/// Errors: Usage.
Result<ProgressForm> progressForm(const std::string& name);

/// On stderr.
TuneProgress::Shows progressOn(Console& console, ProgressForm form);

}  // namespace svod
