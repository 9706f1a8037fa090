// What holds between dims for all values of their variables and counters, proved or refuted.
#pragma once
#include "ir/graph.h"

namespace svod {

/// `Always` and `Never` are proved for every value within the bounds; `NotAlways` has values at which it fails, and
/// may or may not have others; `Unknown` is what could not be decided.
enum class Truth : uint8_t { Always, Never, NotAlways, Unknown };

/// a == b
Truth equalDims(UOp a, UOp b);
/// Whether equalDims(a, b) is Always, found quickly where it is not.
bool alwaysEqual(UOp a, UOp b);
/// a <= b
Truth lessEqualDims(UOp a, UOp b);
/// b is a multiple of a, which must be greater than 0.
Truth dividesDim(UOp a, UOp b);
/// The products of the dims are equal.
Truth equalNumel(std::span<const UOp> a, std::span<const UOp> b);

}  // namespace svod
