// What the lanes of a warp compute together (an internal header of the room).
#pragma once
#include <span>

#include "interp/lanes.h"
#include "ir/tensor_core.h"

namespace svod {

/// The fragments that one lane gives to a Wmma.
struct WarpOperands {
  const LaneValues *a, *b, *c;
};

/// What each lane of a warp gets: its fragment of c + a * b. Products are added one by one in the order of their terms,
/// each rounded once to the dtype of c; digits that a core drops of its factors are kept. Operands and results are
/// values, or the bits of small floats; `result` says which.
std::vector<LaneValues> multiplyTile(const TensorCore& core, DType result, std::span<const WarpOperands> lanes);

}  // namespace svod
