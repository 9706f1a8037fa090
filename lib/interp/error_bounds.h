// How far a result may be from the interpreter's in contract and fast numerics: computed by interpreting a shadow graph
// of error bounds.
#pragma once
#include <string>

#include "interp/interp.h"
#include "ir/numerics.h"

namespace svod {

/// What a model computes and how far from it a legal evaluation may be, by port.
struct BoundedResult {
  std::vector<HostTensor> values;
  std::vector<HostTensor> bounds;  // f64, dims of the value; dtype Void: must be exact. Not finite: anything goes
};

/// Interprets `model` together with bounds that cover both evaluations' rounding, reassociated and widened reductions,
/// fused multiply-adds, wider intermediates and transcendentals within 8 ulp. What is decided by floats that may differ
/// (comparisons, roundings to whole numbers, conditions of loops) is bounded as well. `Fast` also covers reciprocals,
/// reassociated constants, transformed convolutions, and anything where a NaN arises or a finite operand gives an
/// infinity: docs/numerics.md has the rules.
Result<BoundedResult> interpretWithBounds(const Model& model, const ModelBindings& bindings,
                                          Numerics numerics = Numerics::Contract);

/// "" when every element of `got` is within its bound of `want` (equal, where there is none), else the first that is
/// not. Zeros of either sign are equal, and so are NaNs.
std::string differenceBeyond(const HostTensor& got, const HostTensor& want, const HostTensor& bound);

}  // namespace svod
