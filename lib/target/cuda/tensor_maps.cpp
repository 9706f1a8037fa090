#include "target/cuda/tensor_maps.h"

#include "ir/bulk_tensor.h"
#include "target/to_expr.h"

namespace svod::cuda {

Result<TensorMap> describeMap(UOp node, const KernelDesc& kernel) {
  const BulkTensor tensor = bulkTensorOf(node);
  const UOp param = storageOf(tensor.from);
  const int64_t bytes = byteSize(param.dtype());
  TensorMap map;
  map.arg = param.argAs<SlotArg>().slot, map.dtype = kernel.args[map.arg].dtype;
  map.offset = static_cast<uint64_t>(tensor.from.src(1).constInt() * bytes);
  map.swizzleBytes = static_cast<uint64_t>(tensor.swizzle);
  for (size_t d = 0; d < tensor.extents.size(); ++d) {
    SVOD_TRY(Expr extent, toExpr(tensor.extents[d], kernel.values));
    map.dims.push_back(std::move(extent));
    if (d > 0) map.strides.emplace_back(tensor.strides[d] * bytes);
    map.box.push_back(static_cast<uint64_t>(tensor.box[d])), map.step.push_back(1);
  }
  return map;
}

}  // namespace svod::cuda
