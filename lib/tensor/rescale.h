// Online softmax: sums of exp(x - max x) over rows that no cache holds: memory is swept once for maximum and sum.
#pragma once
#include "ir/model.h"
#include "ir/numerics.h"
#include "support/decision.h"
#include "tensor/graph_machine.h"

namespace svod {

/// Cuts long rows into parts. A part's maximum m and sum s of exp(x - m) come from one sweep over it; those of the row
/// from these, each s rescaled by exp(m - the maximum of all) (Milakov and Gimelshein, Online normalizer calculation
/// for softmax, 2018). Nothing is changed in strict mode, where the order of additions is fixed, and where extents are
/// symbolic.
UOp rescaleLongSums(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine, Decisions& decisions);

}  // namespace svod
