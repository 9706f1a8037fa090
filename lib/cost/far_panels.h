// Which operand of a matrix product comes from beyond the second level cache, column panel after column panel.
#pragma once
#include <optional>

#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

/// What the columns read, if its panels come from far while all that the rows read stays in cache.
std::optional<Access> farPanels(const KernelFacts& kernel, UOp column, UOp row, const Caps& caps);

}  // namespace svod
