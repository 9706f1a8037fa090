// Sums of products for tensor cores.
#pragma once
#include "ir/tensor_core.h"
#include "opts/kernels.h"

namespace svod {

struct ProductKernel {
  std::string_view name;
  UOp (*build)(Graph& graph, const Sizes& sizes, const TensorCore& core);  // factors and sums in the dtypes of the core
  std::string_view axes;                                                   // that tc takes: "m,n,k"
};

/// Parameter 0 is the output.
std::span<const ProductKernel> productKernels();

UOp buildProduct(Graph& graph, const Sizes& sizes, const TensorCore& core);  // out[m,n] = sum over k of a[m,k] * b[k,n]
UOp buildRaggedProduct(Graph& graph, const Sizes& sizes, const TensorCore& core);  // the same, all extents variables
UOp buildTriangle(Graph& graph, const Sizes& sizes, const TensorCore& core);  // the same, with the terms k < m alone

}  // namespace svod
