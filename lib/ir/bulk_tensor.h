// Tensors in parameters as bulk copies see them: what one node tensor_map of gpu_ops.def says.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/uop.h"

namespace svod {

inline constexpr int kTensorDims = 5;                                 // at most
inline constexpr int64_t kBoxExtent = 256;                            // of one dim, at most
inline constexpr int64_t kTensorAlignment = 16, kBoxAlignment = 128;  // bytes: of a tensor and its strides; of a box

/// Dims are counted from the innermost, whose elements are neighbours. Strides are in elements.
struct BulkTensor {
  UOp from;                           // the Index of its first element
  std::vector<UOp> extents;           // expressions of variables
  std::vector<int64_t> strides, box;  // as many
  int64_t swizzle = 0;                // 0, or bytes of a row
  int64_t boxElements() const;
};

/// Whether a number is an expression of variables, as the extents of a tensor are.
bool isKnownAtLaunch(UOp number);

/// Of a node tensor_map whose operands have the kinds of the table.
BulkTensor bulkTensorOf(UOp node);

/// Elements behind the one at `operand`, an address of a node about bulk copies, that the node takes; none beyond
/// what constants say.
int64_t elementsBehind(UOp node, UOp operand);

}  // namespace svod
