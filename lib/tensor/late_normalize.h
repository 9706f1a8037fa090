// Delayed softmax normalization: softmax rows that a product sums up are divided by their sum after the product.
#pragma once
#include "ir/model.h"
#include "ir/numerics.h"
#include "support/decision.h"
#include "tensor/graph_machine.h"

namespace svod {

/// sum_k (e[k] / s) * v[k] becomes (sum_k e[k] * v[k]) / s where e is a softmax not yet divided by its sum s, and
/// nothing else reads e / s: one factor for each result in place of one for each term. Nothing changes under strict
/// numerics, on a GPU, which divides while it waits for memory, and where it is decided otherwise.
UOp normalizeLate(Model& model, UOp sink, Numerics numerics, const GraphMachine& machine, Decisions& decisions);

}  // namespace svod
