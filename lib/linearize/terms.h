// Sums of products that a loop body adds up term by term: in accumulators, or written out from the first term on.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// A product that is added to a sum: the node that adds it, and its factors.
struct Addend {
  UOp sum, factors[2];
};

/// Products by the turn in which they are best added, from 1 on, of the sums among the items of a loop body. `items`:
/// sources first. Accumulators, which are stored to the buffer that they were loaded from, add their terms in lockstep.
/// Sums that are written out from their first term on have turns where several of them read one element in different
/// terms, as neighbours in a window do: that element has one turn in all of them.
std::map<size_t, std::vector<Addend>> turnsOfTerms(std::span<const UOp> items);

/// The factor, 0 or 1, that has more values among these terms.
size_t factorOfFewest(std::span<const Addend> terms);

}  // namespace svod
