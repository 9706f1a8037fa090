// Tuning logs of the command line.
#pragma once
#include "console/console.h"
#include "tune/logs.h"

namespace svod {

Warns warningsOf(Console& console);
/// Limits with which waiting for a log is told.
LogLimits waitingWith(Console& console);

}  // namespace svod
