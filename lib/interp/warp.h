// What the lanes of a warp compute together (an internal header of the room).
#pragma once
#include <array>
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
/// values, or the bits of small floats, of factors also as words; `result` says which.
std::vector<LaneValues> multiplyTile(const TensorCore& core, DType result, std::span<const WarpOperands> lanes);

/// What each lane of a warp has got after a shuffle of the values of all, or the words of 8 x 8 matrices whose rows are
/// `rows`, 8 elements of 16 bits for each lane that gives an address.
std::vector<LaneValues> shuffled(std::span<const LaneValues* const> values, int64_t mask);
std::vector<LaneValues> matrixWords(std::span<const std::array<uint16_t, 8>> rows, bool isTransposed);

}  // namespace svod
