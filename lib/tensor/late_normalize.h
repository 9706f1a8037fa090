// Delayed softmax normalization: softmax rows that a product sums up are divided by their sum after the product.
#pragma once
#include "ir/model.h"
#include "ir/numerics.h"
#include "support/decision.h"

namespace svod {

/// sum_k (e[k] / s) * v[k] becomes (sum_k e[k] * v[k]) / s where e is a softmax not yet divided by its sum s, and
/// nothing else reads e / s: one factor for each result in place of one for each term. Nothing changes under strict
/// numerics, and where it is decided otherwise.
UOp normalizeLate(Model& model, UOp sink, Numerics numerics, Decisions& decisions);

}  // namespace svod
