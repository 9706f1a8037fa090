// Convolution stores across line ends: vectors of results go on in the next line, and lanes between two hold none.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Lowered stage in, Lowered stage out. A store whose lanes count through lines of P places and write the first W of
/// each, lines being neighbours in memory, becomes two masked stores of neighbours: what is left of the line it starts
/// in, and the beginning of the next. Cannot fail.
UOp storeLines(Graph& graph, UOp sink);

}  // namespace svod
