// Split K: large reductions to few elements in two steps, so that the first has parallel work on what stays in cache.
#pragma once
#include "ir/model.h"
#include "ir/numerics.h"
#include "support/decision.h"
#include "tensor/graph_machine.h"

namespace svod {

/// Rewrites Reduce nodes whose input is much larger than their result, and products of matrices with many terms for
/// each of few results: partial results over parts of the terms, in a buffer, and a second Reduce over the parts; on a
/// GPU terms that are left over are folded beside them.
/// Floats are left alone in strict mode, where the order of additions is fixed.
UOp splitReduces(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine, Decisions& decisions);

}  // namespace svod
