// What indices are known to be multiples of: the alignment of vectors and copies.
#pragma once
#include <cstdint>

#include "ir/uop.h"

namespace svod {

/// The largest power of two, up to kMostAligned, that every value of an integer scalar is known to be a multiple of.
inline constexpr int64_t kMostAligned = 1 << 20;
/// With a `zero` it counts as 0 in there.
int64_t multipleOf(UOp index, UOp zero = {});

}  // namespace svod
