// The tables of a choice: what is prepared, the strategies of which a kernel gets one, and what follows for
// every kernel.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "choose/chooser.h"

namespace svod {

/// One way to run the loops of a kernel. `fits` sees the kernel as preparations left it. `run` works on a
/// trial: false says that the kernel is none of these after all, and what it did is taken back.
struct Strategy {
  std::string_view name, what;
  bool (*fits)(const KernelFacts& kernel, const Caps& caps);
  bool (*run)(Chooser& chooser);
};

/// Every row that fits runs, in this order, before and after a strategy.
std::span<const Strategy> preparations();
std::span<const Strategy> finishes();
/// In the order in which they are preferred; the last one of a target fits every kernel.
std::span<const Strategy> strategies();

/// All rows of these tables, of nestStrategies() and of allBranches(), in the order in which they are tried.
struct StrategyRow {
  std::string_view phase, name, what;
};
std::vector<StrategyRow> allStrategies();

}  // namespace svod
