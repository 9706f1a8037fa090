// The actions of svodc tune: its first word. Without one there are graphs.
#pragma once
#include "command.h"

namespace svod {

/// svodc tune plan GRAPH.. -o WORK
Result<int> planWork(const Request& request, Console& console);
/// svodc tune run WORK --unit N
Result<int> runUnit(const Request& request, Console& console);
/// svodc tune status WORK
Result<int> showWork(const Request& request, Console& console);

}  // namespace svod
