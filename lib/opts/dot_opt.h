// dot: products of small numbers summed in groups, as one instruction does.
#pragma once
#include "opts/opt.h"

namespace svod {

Result<Applied> applyDot(Graph& graph, UOp sink, const OptOp& opt, const Caps& caps);

/// How many products one instruction of the CPU sums up once dot is applied to a loop of `reduce`: where that sums
/// products of two bytes, each from memory and less a number that does not depend on its loops, or of two bf16 in
/// memory. 0: none.
int64_t dotGroupOf(Graph& graph, UOp reduce, const Caps& caps);

}  // namespace svod
