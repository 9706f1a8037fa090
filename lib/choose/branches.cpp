#include "choose/branches.h"

namespace svod {

namespace {

constexpr BranchInfo kBranches[] = {
    {"next-nest", "not the first strategy that a loop nest has, but the one after it"},
    {"pack", "a panel of columns is packed where the rule of `output-lanes` does not, or the other way round"},
    {"order", "columns stay inside of rows where `output-lanes` moves them outside, or the other way round"},
    {"lanes",
     "the lanes of a matrix product with weights run along another output loop than the one of the fewest "
     "instructions"},
};

}  // namespace

std::span<const BranchInfo> allBranches() { return kBranches; }

}  // namespace svod
