// Sums of products that accumulators add up in one iteration of a loop.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// A product that is added to an accumulator: the node that adds it, and its factors.
struct Addend {
  UOp sum, factors[2];
};

/// The first terms of all accumulators among `stores`, then their second ones, and so on. Stores of anything but
/// products added to what the same buffer held have none.
std::vector<std::vector<Addend>> termsOf(std::span<const UOp> stores);

/// The factor, 0 or 1, that has more values among these terms.
size_t factorOfFewest(std::span<const Addend> terms);

}  // namespace svod
