// Products with small constant matrices, written out as additions and multiplications of the elements.
#pragma once
#include <vector>

#include "ir/graph.h"
#include "tensor/winograd_form.h"

namespace svod {

/// M x M^T for x given row by row, M = last * shared; the result likewise.
std::vector<std::vector<UOp>> bothSides(Graph& graph, const SmallMatrix& shared, const SmallMatrix& last,
                                        const std::vector<std::vector<UOp>>& x);
/// values[i][j] at counters i and j, which are known where the loops over them are written out.
UOp selected(Graph& graph, const std::vector<std::vector<UOp>>& values, UOp i, UOp j);

}  // namespace svod
