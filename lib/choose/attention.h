// Attention in blocks of query rows: scores and weights of a block stay in local buffers, sweeps over keys run across
// rows.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Blocks of rows for a kernel that holds them (facts/row_kernel.h). False where a block would have fewer rows than
/// lanes: the trial is no good then.
bool blockRows(Chooser& chooser);

}  // namespace svod
