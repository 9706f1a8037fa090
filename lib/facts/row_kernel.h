// Kernels that hold rows of a product in local buffers (attention): which of their loops and sums are which.
#pragma once
#include <optional>
#include <vector>

#include "facts/kernel_facts.h"

namespace svod {

struct RowKernel {
  UOp row, column;           // output loops: local buffers depend on the first, only the result on the second
  std::vector<UOp> between;  // loops inside of `row` that buffers depend on as well
  UOp result, score;         // products: elements of the result, elements of a row
};
/// Of the kernel as the scheduler makes it; nothing for any other.
std::optional<RowKernel> rowKernelOf(const KernelFacts& kernel);

/// The product of two matrices whose sums fill the buffer, as long as it has loops of its own; null where there is
/// none.
UOp scoreOf(UOp fill);
/// The sum of products that depends on `column`.
UOp resultOver(const KernelFacts& kernel, UOp column);
/// What the rows are multiplied with.
std::optional<Access> matrixOf(const KernelFacts& kernel, UOp result, UOp column);

}  // namespace svod
