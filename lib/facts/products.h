// Products of matrices by the loops and operands they have.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "facts/caps.h"
#include "facts/kernel_facts.h"

namespace svod {

/// A matrix product, or few rows times a matrix: the operand with the lanes is `matrix`.
struct MatrixProduct {
  UOp k;          // the one loop of the reduce
  int64_t depth;  // its extent
  Access matrix;
  std::vector<UOp> rowAxes;  // output loops the matrix does not depend on
  int64_t rows = 1;

  int64_t elementBytes() const { return byteSize(matrix.node.dtype()); }
};
/// Nothing where sums must keep their order, or lanes are no neighbours in the matrix and its slot is none of
/// `laidOut`.
std::optional<MatrixProduct> productOf(const KernelFacts& kernel, const Caps& caps, std::span<const uint32_t> laidOut,
                                       UOp reduce, UOp lanes);

}  // namespace svod
