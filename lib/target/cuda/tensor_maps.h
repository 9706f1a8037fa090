// Descriptors of bulk copies.
#pragma once
#include "ir/uop.h"
#include "plan/plan.h"
#include "support/result.h"

namespace svod::cuda {

/// What the runtime is told of a node tensor_map of this kernel.
Result<TensorMap> describeMap(UOp node, const KernelDesc& kernel);

}  // namespace svod::cuda
