// What a port holds before the first store (an internal header of the room).
#pragma once
#include <vector>

#include "interp/tensor.h"
#include "ir/model.h"
#include "support/result.h"

namespace svod {

/// The content of a port of this dtype and these dims: `bound`, unless it is null or of dtype Void, else the data of
/// the port, else zeros. Errors: a negative dim, a tensor or data that does not fit, an input or weight without a
/// value.
Result<HostTensor> portContent(DType dtype, std::vector<int64_t> dims, const ModelPort& port, const HostTensor* bound);

}  // namespace svod
