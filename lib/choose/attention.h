// Attention in blocks of query rows: scores and weights of a block stay in local buffers, sweeps over keys run across
// rows.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Whether the kernel keeps rows of a product in local buffers, and multiplies them.
bool keepsRows(const KernelFacts& kernel);
/// Blocks of rows for such a kernel. False where a block would have fewer rows than lanes: the trial is no good then.
bool blockRows(Chooser& chooser);

}  // namespace svod
