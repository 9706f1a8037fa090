// Which results of a graph have the same bits in every legal evaluation (docs/semantics.md, numerics modes).
#pragma once
#include <vector>

#include "ir/model.h"
#include "ir/numerics.h"

namespace svod {

/// Exact: the bits are certain. Rounded: one rounding of what is exact, so certain in an output, a conversion or a
/// comparison; arithmetic may go on with the unrounded value. Free: reordered, fused or a transcendental.
enum class Certainty : uint8_t { Exact, Rounded, Free };

/// By Model::ports: of outputs what is stored to them, of states and temporaries the least certain of all stores.
std::vector<Certainty> certainties(const Model& model, Numerics numerics);

/// Whether results depend on what the language leaves open: the sign of a zero that max or min choose, or the bits of a
/// NaN.
bool dependsOnOpenBits(const Model& model);

}  // namespace svod
