// Digits of an address: the counters that it counts up as a number of mixed bases.
#pragma once
#include <cstdint>
#include <span>

#include "symbolic/linear.h"

namespace svod {

struct Digit {
  int64_t stride, extent, place;  // in the address, how many values, and what one more of it is in the result
  int64_t last;                   // the greatest digit * stride: the last block may begin within the one before it
};

/// The sum of digit * place, for digits that ascend by stride and reach the address. Quotients are taken of what
/// decides them: of a block that no lane leaves, the block alone is divided. Not simplified.
UOp placeOf(Graph& graph, std::span<const Digit> digits, Linear address);

}  // namespace svod
