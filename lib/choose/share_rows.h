// Caching in place of recomputation, for softmax and its kin: expensive values of one sweep over a row that a later
// sweep needs again.
#pragma once
#include "choose/chooser.h"

namespace svod {

/// Keeps expensive values that several sweeps over a row need in a buffer of one row.
void shareRows(Chooser& chooser);

}  // namespace svod
