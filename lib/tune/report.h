// The final report of tuning.
#pragma once
#include <string>

#include "report/document.h"
#include "tune/tune.h"

namespace svod {

/// A table of all kernels, and what was gained; others of graphs and of plans, if there are any. `log`: its path.
Document describe(const TuneResult& result, const std::string& log);

}  // namespace svod
