// Factors of tile units: matrices that lie in memory as rows a constant distance apart.
#pragma once
#include <functional>

#include "ir/tile_unit.h"
#include "lower/fold_terms.h"

namespace svod {

/// The factors of one step of the sum. `expanded` writes out what the load of the first element has of ranges.
FoldTerm tileTerm(Graph& graph, const TileForm& form, const std::function<UOp(UOp)>& expanded);

/// One row of the sums, as a vector.
UOp tileRow(Graph& graph, const TileUnit& unit, UOp sums, int64_t row);

}  // namespace svod
