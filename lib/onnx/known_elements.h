// Shapes and elements as KnownValues sees them.
#pragma once
#include <cstdint>
#include <vector>

#include "onnx/known_values.h"

namespace svod {

/// Elements of a fixed shape, or -1.
inline int64_t knownCount(UOp node) {
  int64_t count = 1;
  for (size_t i = 0; i < node.rank(); ++i) {
    int64_t d = node.dim(i);
    if (d < 0 || (d > 0 && count > KnownValues::kMaxElements / d)) return -1;
    count *= d;
  }
  return count;
}

inline std::vector<int64_t> knownDims(UOp node) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < node.rank(); ++i) dims.push_back(node.dim(i));
  return dims;
}

inline bool isConstant(UOp element) { return element && element.isConst(); }

}  // namespace svod
