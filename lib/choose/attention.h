// Attention in blocks of query rows: scores and weights of a block stay in local buffers, sweeps over keys run across rows.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Blocks of rows for kernels that keep rows of a product in local buffers; false (nothing changed) for others.
bool tileRows(Chooser& chooser);

}  // namespace svod
