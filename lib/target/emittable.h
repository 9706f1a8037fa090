// What every target can rely on: after legalization a kernel holds only the ops and dtypes of one table.
#pragma once
#include <span>
#include <string_view>

#include "linearize/linear.h"
#include "support/result.h"

namespace svod {

/// Kinds of operand an op may still have when it reaches a target.
enum OperandKind : uint8_t { OnBool = 1, OnInt = 2, OnFloat = 4, OnAny = 7, OnVoid = 8 };
OperandKind operandKind(DType dtype);  // f32 and f64 are OnFloat; small floats and Index are OnVoid

struct Emittable {
  Op op;
  uint8_t operands;  // bits of OperandKind for the value operands
  bool gpuOnly = false;
};
std::span<const Emittable> emittableOps();

/// Verify error naming the first op that legalization should have removed. `nativeF16`: casts between f16 and f32 may
/// remain, with a bitcast on the f16 side. `gpu`: Special and Barrier are allowed.
Status checkEmittable(const LinearKernel& kernel, bool nativeF16 = false, bool gpu = false);

}  // namespace svod
