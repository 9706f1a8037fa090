// The plain heuristic schedule of `-O1`: opts from strides and extents, without search.
#pragma once
#include <vector>

#include "choose/choice.h"
#include "facts/caps.h"

namespace svod {

/// A list for applyOpts() that leaves no large loop scalar: one vector axis per store and per reduce, a
/// register tile within the vector registers, column order and a packed panel for matrix products, tiles for
/// threads. Numerics in `caps` decide what may be reassociated. Depends on the kernel and `caps` only. An
/// empty list is a valid answer.
Choice choose(Graph& graph, UOp sink, const Caps& caps);
/// What every strategy (strategies.h) that fits makes of the kernel, in order of preference: choose() takes
/// the first. Their order decides, not a prediction: how far those are off differs more from one schedule to
/// the other than the schedules do.
std::vector<Choice> seedsOf(Graph& graph, UOp sink, const Caps& caps);
/// The opts alone.
std::vector<OptOp> optsOf(const Choice& choice);
std::vector<OptOp> chooseOpts(Graph& graph, UOp sink, const Caps& caps);

}  // namespace svod
