// Panels of columns of a matrix product: which come from beyond the second level cache, and which are worth a copy.
#pragma once
#include <optional>

#include "facts/caps.h"
#include "facts/kernel_facts.h"
#include "facts/panels.h"

namespace svod {

/// The operand of the columns, if its panels come from beyond L2 while the operand of the rows stays in cache.
std::optional<Access> farPanels(const KernelFacts& kernel, UOp column, UOp row, const Caps& caps);

/// Worth it when many row tiles read the panel again and its rows are far apart in memory; a few are enough where the
/// matrix, which has `width` columns, does not stay in the cache.
bool paysToPack(const Panel& panel, const Caps& caps, int64_t width, int64_t rowTiles);

}  // namespace svod
