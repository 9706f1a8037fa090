// What svodc tune says at its end.
#pragma once
#include <string>
#include <vector>

#include "command.h"
#include "report/document.h"
#include "tune_check.h"
#include "tune_plans.h"

namespace svod {

/// A table of all kernels, and what was gained; others of graphs and of plans, if there are any.
Document describe(const std::vector<Tuned>& all, const std::vector<TunedGraph>& graphs,
                  const std::vector<CheckedGraph>& checks, const std::string& log);

/// As JSON, or as text: as wide as the console, without what is for programs alone.
std::string tuneText(Document document, const Request& request, const Console& console);

}  // namespace svod
