// In-register transposition of squares of elements, by a network of shuffles with two operands.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// n registers of a multiple of n lanes, n a power of two: element (register r, lane q n + u) goes to register u, lane
/// q n + r. Each of log2(n) rounds exchanges one bit of the register's number with one of the lane's.
void transposeLanes(Graph& graph, std::span<UOp> registers);

/// Lane `i` of a vector.
UOp laneOf(Graph& graph, UOp vector, size_t i);

}  // namespace svod
