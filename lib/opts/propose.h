// Moves that make sense for a kernel: what a search, a random test or a person tries next.
#pragma once
#include <vector>

#include "facts/kernel_facts.h"
#include "opts/loop_names.h"
#include "opts/opt.h"

namespace svod {

/// The proposals of every opt of the table, in its order, with loops by name (by number where a loop has none).
/// `names`: those of `kernel`. Depends on its arguments only. Most are legal; the others are an error of applyOpt(), as
/// what an expansion comes to, and what a copy takes, shows only when it is made.
std::vector<OptOp> proposeOpts(const KernelFacts& kernel, const LoopNames& names, const Caps& caps);

}  // namespace svod
