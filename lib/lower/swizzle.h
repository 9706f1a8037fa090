// Shared-memory swizzle: 16-byte chunks change places by the XOR with their row, against bank conflicts.
#pragma once
#include "ir/graph.h"

namespace svod {

/// Lowered stage in and out: addresses in Local buffers with a swizzle of b bytes become a ^ ((a >> 7 & b / 16 - 1) <<
/// 4), in bytes, for rows of b = 32, 64 or 128, and a ^ ((a / b & 7) << 4) for longer ones, so that neighbouring rows
/// have the same column in different banks. Pieces of 16 bytes stay whole; vectors that would be torn are accessed lane
/// by lane. Afterwards no buffer has a swizzle.
UOp swizzleBuffers(Graph& graph, UOp sink);

/// The place of element `at` of elements of `bytes` bytes.
UOp swizzled(Graph& graph, UOp at, int64_t bytes, int64_t swizzle);

}  // namespace svod
