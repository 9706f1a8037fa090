// Pack A: the other operand of a matrix product, where it lies across its rows (`A^T B`). A column of it touches as
// many lines of the cache as the sum is long, and each serves a few elements.
#pragma once
#include <optional>

#include "choose/chooser.h"
#include "cost/register_tile.h"

namespace svod {

/// The operand whose elements all lanes share, where rows are neighbours in it and the terms of their sums far apart.
struct RowPanel {
  uint32_t slot;
  int64_t rows;  // that one copy holds
};
inline constexpr const char* kSharedCopy = "rows that share a copy of the other operand";
/// Nothing where such an operand is read as well where it lies, or by too few columns, or where a copy of `terms` of
/// each sum that takes at most `mostBytes` has too few rows.
std::optional<RowPanel> rowPanelOf(const Chooser& chooser, UOp reduce, const Lanes& lanes, const RegisterTile& tile,
                                   int64_t terms, int64_t mostBytes);
/// Copies what the loops `row` and `depth` (of the reduce) read of it, turned: the terms of a sum are neighbours.
bool packAcross(Chooser& chooser, uint32_t slot, uint32_t row, uint32_t depth, int64_t width);

}  // namespace svod
