// The table of what is done with one loop nest that gets lanes.
#pragma once
#include <span>
#include <string_view>

#include "choose/loop_nest.h"
#include "choose/strategy.h"

namespace svod {

/// `run` works on a trial: false says that the nest is none of these after all, and what it did is taken
/// back.
struct NestStrategy {
  std::string_view name, what;
  bool (*fits)(const KernelFacts& kernel, const LoopNest& nest);
  bool (*run)(Chooser& chooser, const LoopNest& nest);
};

/// Every row runs, in this order, before the loop nests of a kernel get lanes.
std::span<const Strategy> nestPreparations();
/// In the order in which they are preferred.
std::span<const NestStrategy> nestStrategies();

/// Lanes for every loop nest of the kernel, and what follows from them.
bool chooseNests(Chooser& chooser);

}  // namespace svod
