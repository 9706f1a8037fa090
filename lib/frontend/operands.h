// What ops check of their operands before they become nodes.
#pragma once
#include <algorithm>

#include "frontend/builder.h"

namespace svod {

inline bool anyMissing(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d; });
}

/// Literals become tensors where they are moved.
inline Tensor settled(Tensor x) { return x && x.isLiteral() ? cast(x, commonDType({&x, 1})) : x; }

}  // namespace svod
