// How far a contract-mode result may be from the interpreter's: computed by interpreting a shadow graph of error
// bounds.
#pragma once
#include <string>

#include "interp/interp.h"

namespace svod {

/// What a model computes and how far from it a legal evaluation may be, by port.
struct BoundedResult {
  std::vector<HostTensor> values;
  std::vector<HostTensor> bounds;  // f64, dims of the value; dtype Void: must be exact. Infinity: anything goes
};

/// Interprets `model` together with bounds that cover both evaluations' rounding, reassociated and widened reductions,
/// fused multiply-adds, wider intermediates and transcendentals within 8 ulp.
Result<BoundedResult> interpretWithBounds(const Model& model, const ModelBindings& bindings);

/// "" when every element of `got` is within its bound of `want` (equal, where there is none), else the first that is
/// not. Zeros of either sign are equal, and so are NaNs.
std::string differenceBeyond(const HostTensor& got, const HostTensor& want, const HostTensor& bound);

}  // namespace svod
