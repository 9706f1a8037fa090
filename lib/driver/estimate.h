// What a kernel costs on paper: arithmetic and bytes moved, for profiles and plans.
#pragma once
#include <span>
#include <string>

#include "ir/graph.h"
#include "plan/expr.h"

namespace svod {

struct Estimate {
  Expr flops;  // operations on floats; of integers products and what reductions sum up; index arithmetic is left out
  Expr bytes;  // each buffer once, or as often as it is accessed when that is less
};

/// Of a Kernel-stage AST. `names` are the kernel's variables in the order of its values. An estimate that is long as an
/// expression is that for the greatest values of the variables.
Estimate estimate(UOp sink, std::span<const std::string> names);

}  // namespace svod
