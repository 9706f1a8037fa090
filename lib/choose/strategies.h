// The tables of a choice: what is prepared, the strategies of which a kernel gets one, and what follows for
// every kernel.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "choose/strategy.h"

namespace svod {

/// Every row that fits runs, in this order, before and after a strategy.
std::span<const Strategy> preparations();
std::span<const Strategy> finishes();
/// In the order in which they are preferred; the last one of a target fits every kernel.
std::span<const Strategy> strategies();

/// All rows of these tables, of nestPreparations(), nestStrategies() and allBranches(), in the order in which they are
/// tried.
struct StrategyRow {
  std::string_view phase, name, what;
};
std::vector<StrategyRow> allStrategies();

}  // namespace svod
