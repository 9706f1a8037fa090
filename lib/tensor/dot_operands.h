// Operands of matrix products that dot product instructions and tensor cores could take as they are.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// Whether `node` is a float of 16 bits, widened to f32.
bool widensNarrow(UOp node);

/// A sum in i32 of products of bytes, or of parts of bytes.
bool sumsByteProducts(UOp node);

/// The factors of a product, both of them bf16 widened to f32.
struct Bf16Product {
  UOp a, b;
};
/// Products that are summed up, where both factors have their rows in memory along the sum or along the columns of the
/// result, without windows. `order` is topological.
std::vector<Bf16Product> bf16Products(std::span<const UOp> order);

}  // namespace svod
