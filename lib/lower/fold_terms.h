// Reduction loop bodies: the term of each step, and the accumulator that takes it.
#pragma once
#include <span>

#include "ir/graph.h"
#include "ir/tensor_core_form.h"
#include "ir/tile_unit.h"

namespace svod {

/// A value, or (b given) two factors of as many lanes as `group` times its results, or (core given) fragments of two
/// factors, or (tile given) two matrices.
struct FoldTerm {
  UOp a, b = {};
  int64_t group = 1;
  const TensorCore* core = nullptr;
  const TileUnit* tile = nullptr;
  int64_t lanes() const;
};

struct FoldType {
  Op op;
  DType dtype;
  int64_t width;  // least number of lanes; terms may have more
};

/// The fold of `terms`, in order, in every iteration of `loops`, from the identity on; `slot` names its register.
UOp foldTerms(Graph& graph, uint32_t slot, FoldType type, std::span<const UOp> loops, std::span<const FoldTerm> terms);

/// A vector of `count` lanes with one value.
UOp repeated(Graph& graph, UOp scalar, int64_t count);

}  // namespace svod
