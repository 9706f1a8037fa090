// The winners of a whole log, found in one walk.
#pragma once
#include "tuning/winners.h"

namespace svod {

/// What winnersOf() and planWinnersOf() give for every kernel, or graph, and target that has a winner, in the order of
/// these.
std::vector<std::vector<Winner>> allWinners(const TuningLog& log, std::string_view compiler);
std::vector<std::vector<PlanWinner>> allPlanWinners(const TuningLog& log, std::string_view compiler);

}  // namespace svod
