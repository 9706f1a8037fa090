// Constant folding of tensors: what every run would compute alike is computed once, when the plan is built, and becomes
// a weight. Tables of sines, normalized or dequantized weights, permuted positions are such values.
#pragma once
#include "compile/options.h"
#include "ir/model.h"
#include "support/result.h"

namespace svod {

/// The sink of `model` with its foldable values replaced. Those that make the plan grow least go first, while the
/// limits hold; the result depends on the graph alone. Appends ports of kind Weight, which own their elements, and
/// changes nothing else of the model: its sink still computes everything.
///
/// Folded is a value of known shape that depends on weights and constants alone, unless kernels are better off
/// computing it: views of weights but for padded ones, weights in a wider dtype, bytes less a zero point, cheap
/// arithmetic on positions, which reads no memory, and more than a MiB made of smaller weights that a run reads less
/// than eight times, or that have less than a byte each.
Result<UOp> foldConstants(Model& model, const FoldLimits& limits);

}  // namespace svod
