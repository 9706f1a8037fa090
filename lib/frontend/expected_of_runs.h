// What a model that is being built expects of its runs.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tensor.h"
#include "support/expectation.h"

namespace svod {

struct ExpectedOfRuns {
  /// That `given` is `wanted`, both of them integers.
  struct Check {
    Tensor given, wanted;
    std::string text;
    ExpectationKind kind;
  };
  std::set<std::pair<uint32_t, uint32_t>> equalSizes;  // by the ids of the dims
  bool leavesSizes = false;                            // those that differ for some values agree
  bool isClosed = false;                               // no more of them: an op that needs one fails
  bool isUsedInCondition = false;                      // sizes agreed that need not be equal in every run
  std::vector<std::vector<Check>> inConditions;        // of every condition that is open, the outermost first
};

}  // namespace svod
