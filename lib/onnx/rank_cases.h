// Conditions that decide how many axes values have, and the cases that a plan is for.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace svod {

struct RankCase {
  bool holds = false;
  bool isForced = false;   // no other case is tried
  bool leavesOut = false;  // a branch of the other case, which is not valid
  bool isOfSizes = false;  // the condition is one on sizes
  size_t node = 0;         // how many nodes were read before
  std::string name, help;  // the node; what to type for the other case
};
using RankCases = std::map<std::string, RankCase>;  // by node

/// How far a reading of a model came with its cases.
struct ReadingScore {
  bool hasErrors = false;
  size_t failedAt = 0;    // how many nodes were read when the first problem came up
  size_t otherRanks = 0;  // outputs with more or fewer axes than the model declares
  int64_t branchesLeftOut = 0;
  size_t checks = 0;     // of sizes, in runs: the fewer, the more of the model fits as it stands
  size_t nodesRead = 0;  // those of bodies each time

  /// -1 where it is worse, 1 where it is better.
  int against(const ReadingScore& other) const;
};

/// The case of a condition on sizes that more than one size meets; null is a condition that no size decides.
bool usualCase(UOp condition);

/// What makes a condition on sizes hold, or not, as `least <= most` and as equal sizes.
struct CaseDemands {
  std::vector<std::pair<UOp, UOp>> ordered, equal;
};
CaseDemands demandsOf(Graph& graph, UOp condition, bool holds);

}  // namespace svod
