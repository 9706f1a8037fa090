// How a kernel reads an operand: the load, and the loops that its address is made of.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// A load without a gate, and the counters and digits of its address, outermost first.
struct Reading {
  UOp load;
  std::vector<UOp> leaves;

  UOp address() const { return load.src(0).src(1); }
};

/// Kernel stage: how parameter `slot` is read. Nothing where another load or a store touches it, where the load has a
/// gate, and where the address depends on more than counters.
std::optional<Reading> readingOf(UOp sink, uint32_t slot);

/// How many values a counter or a digit has at most.
int64_t countOf(UOp leaf);
/// The leaf, so that its bounds say how many values it has.
UOp withinCount(Graph& graph, UOp leaf);
/// The address with a range of its own in place of each leaf: ranges are added, and numbered from `id` on.
UOp withOwnRanges(Graph& graph, UOp address, std::span<const UOp> leaves, std::vector<UOp>& ranges, uint32_t id);

/// The load at `place` of the operand in a new order, of so many elements.
UOp readAt(Graph& graph, UOp load, int64_t elements, UOp place);

}  // namespace svod
