// svodc compile --verify: the plan against the interpreter.
#pragma once
#include "driver/compile.h"
#include "ir/model.h"

namespace svod {

/// Runs the plan in this process on random inputs and compares outputs and states with the interpreter: exactly for
/// integers, and for floats in strict mode without transcendentals; otherwise within 256 units of the last place of
/// the largest value. Errors: Mismatch, naming the value; Unsupported for plans that cannot run here.
Status verifyPlan(const Model& model, const Compilation& compilation, Numerics numerics);

}  // namespace svod
