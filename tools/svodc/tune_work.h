// svodc tune plan|run|status: tuning in units, on as many machines as there are.
#pragma once
#include "command.h"

namespace svod {

struct UnitAction {
  std::string_view name;
  Result<int> (*run)(const Request& request, Console& console);
};

/// That of the first word behind svodc tune, or null: then it is a graph.
const UnitAction* unitActionOf(const Request& request);

/// svodc tune plan GRAPH.. -o WORK
Result<int> planWork(const Request& request, Console& console);

}  // namespace svod
