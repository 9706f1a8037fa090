// ldmatrix: tensor core fragments loaded from shared memory as matrices of 8 x 8 elements.
#pragma once
#include <optional>
#include <string_view>

#include "ir/graph.h"
#include "ir/tensor_core.h"

namespace svod {

/// The instruction of gpu_ops.def that loads a fragment, and where rows of its matrices start: lane bits of `rows` name
/// the row whose address a lane gives, element bits the 8 elements along it.
struct MatrixLoad {
  std::string_view name;
  Fragment rows;
};
/// Nothing for fragments that are no such matrices. `isTransposed`: rows of the matrices in memory run along the
/// dimension that the fragment has its lanes / 4 along.
std::optional<MatrixLoad> matrixLoadOf(const TensorCore& core, const Fragment& fragment, bool isTransposed);

/// Lowered stage in and out, with hardware indices: loads of two matrices a constant distance apart become one of four.
UOp pairMatrixLoads(Graph& graph, UOp sink);

}  // namespace svod
