// Elements of a buffer that the threads of a workgroup take in turn, a few neighbours at once.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

struct Dealt {
  std::vector<UOp> ranges;  // of the pieces, dealt to the threads, and of the lanes of one where there are several
  UOp place;                // of an element, counted through all loops
  std::vector<UOp> at;      // the counter of each loop there
};
/// The elements that `loops` count, the outermost first, in pieces of `width`, which divides their number. The new
/// ranges have ids from `id` on.
Dealt dealtToThreads(Graph& graph, std::span<const UOp> loops, int64_t width, uint32_t id);

}  // namespace svod
