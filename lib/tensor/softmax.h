// Softmax in a graph of tensors, known by what is computed, whatever the movement ops between.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace svod {

/// exp(x - max x): at most 1, as the maximum is over elements of `x`.
struct ExpOfDistance {
  UOp x, max;  // the maximum below its arrangement: a Reduce
};
/// `values` may be an arrangement of it.
std::optional<ExpOfDistance> expOfDistance(UOp values);

/// Values over their sum, or times one over it.
struct Normalized {
  UOp values, scale;
  Op op;  // Fdiv or Mul
};
std::optional<Normalized> normalizedOf(UOp node);

/// Whether `node` is a sum over terms exp(x - max x), which may be arranged otherwise than `values`, the same ones.
bool isSumOfExp(UOp node, UOp values);

/// Whether a factor of `terms` is a softmax before its division, whose rows a kernel holds beside the product.
bool hasSoftmaxFactor(UOp terms);
/// A sum of products.
bool isProductSum(UOp node);
/// Whether `node` is the division or product that the sum of a softmax was left for after a product.
bool isNormalizedLate(UOp node);

}  // namespace svod
