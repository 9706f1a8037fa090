// Dims and launch sizes of the compiler as expressions of a plan.
#pragma once
#include <span>
#include <string>

#include "ir/graph.h"
#include "plan/expr.h"

namespace svod {

/// `names[i]` is variable i of the result. Errors: Unsupported when the dim uses an op plans do not have.
Result<Expr> toExpr(UOp dim, std::span<const std::string> names);

}  // namespace svod
