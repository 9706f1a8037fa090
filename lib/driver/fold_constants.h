// Constant folding of tensors: what every run would compute alike is computed once, when the plan is built, and becomes
// a weight. Tables of sines, normalized or dequantized weights, permuted positions are such values.
#pragma once
#include <cstdint>

#include "ir/model.h"
#include "support/result.h"

namespace svod {

struct FoldLimits {
  /// By how many bytes folded values may make a plan larger; weights that nothing else reads leave it. 0: nothing is
  /// folded.
  int64_t bytes = 0;
  /// How many elements the interpreter may compute, intermediate ones included: it takes about 0.1 us for each.
  int64_t elements = int64_t{1} << 25;
};

/// The sink of `model` with its foldable values replaced. Those that make the plan grow least go first, while the
/// limits hold; the result depends on the graph alone. Appends ports of kind Weight, which own their elements, and
/// changes nothing else of the model: its sink still computes everything.
///
/// Folded is a value of known shape that depends on weights and constants alone, unless kernels are better off
/// computing it: views of weights, weights in a wider dtype, bytes less a zero point, cheap arithmetic on positions,
/// which reads no memory, and more than a MiB made of smaller weights that a run reads less than eight times, or that
/// have less than a byte each.
Result<UOp> foldConstants(Model& model, const FoldLimits& limits);

}  // namespace svod
