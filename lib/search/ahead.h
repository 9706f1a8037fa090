// Ahead-of-time candidates: what is worth compiling on a machine that cannot measure.
#pragma once
#include <vector>

#include "search/moves.h"
#include "search/search.h"

namespace svod {

/// What a search of the kernel begins with, in its order, and the best changes of that by the cost model as it was
/// corrected: `count` lists, or fewer where there are no more. The same arguments give the same lists.
std::vector<Candidate> candidatesAhead(Graph& graph, UOp sink, const Caps& caps, const SearchOptions& options,
                                       const std::vector<std::vector<OptOp>>& hints, size_t count);

/// What a search begins with.
std::vector<Candidate> startOf(Moves& moves, const SearchOptions& options,
                               const std::vector<std::vector<OptOp>>& hints);

}  // namespace svod
