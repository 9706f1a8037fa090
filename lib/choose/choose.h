// The schedule of `-O1`: of what the strategies make of a kernel, the one that pays best, without search.
#pragma once
#include <vector>

#include "choose/choice.h"
#include "facts/caps.h"

namespace svod {

/// A list for applyOpts() that leaves no large loop scalar: one vector axis per store and per reduce, a
/// register tile within the vector registers, column order and a packed panel for matrix products, tiles for
/// threads. Numerics in `caps` decide what may be reassociated. Depends on the kernel and `caps` only. An
/// empty list is a valid answer.
///
/// For fixed sizes it is the first of seedsOf() unless the cost model expects another to be faster by more than it
/// errs; where that cannot be, the others are not even made. For free sizes the likely run comes first (size_points.h).
Choice choose(Graph& graph, UOp sink, const Caps& caps);

struct PricedSeed {
  Choice choice;
  double nanoseconds;  // expected on one thread; 0 where there is no model
};
/// What every strategy (strategies.h) that fits makes of the kernel, also with one of its own choices (branches.h) the
/// other way; in order of preference. Of free sizes: for the likely ones, those that are legal for all.
std::vector<PricedSeed> seedsOf(Graph& graph, UOp sink, const Caps& caps);

/// A kernel with opts as if its sizes were the likely ones; the same where they are fixed.
UOp atLikelySizes(Graph& graph, UOp sink, const Caps& caps);

/// The opts of choose() alone.
std::vector<OptOp> chooseOpts(Graph& graph, UOp sink, const Caps& caps);

}  // namespace svod
