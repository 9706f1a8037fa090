// Products of matrices as multiply and sum over a shared axis.
#include "frontend/graph_op.h"

namespace svod {

namespace {

// a [.., m, k] times b [.., k, n]. The product is taken and summed in at least f32 or i32, then rounded to
// `result`.
Tensor matmul(Tensor a, Tensor b, DType result) {
  DType wide =
      promote(sumDType(commonDType(std::vector<Tensor>{a, b})), isFloat(result) ? sumDType(result) : result);
  Tensor rows = unsqueeze(a, -2), columns = unsqueeze(b, -3);  // [.., m, 1, k], [.., 1, k, n]
  if (!rows || !columns) return {};
  std::vector<int> order(columns.rank());
  for (int i = 0; i < columns.rank(); ++i) order[i] = i;
  std::swap(order[columns.rank() - 1], order[columns.rank() - 2]);
  columns = permute(columns, order);  // [.., 1, n, k]
  return cast(reduce(Op::Add, cast(rows, wide) * cast(columns, wide), {{-1}}, false), result);
}

}  // namespace

Results lowerMatmul(OpCall& call) {
  Tensor a = call.arg(0), b = call.arg(1);
  if (!call.require(a.rank() > 0 && b.rank() > 0, "needs a vector or matrix on both sides")) return Tensor();
  if (!call.require(a.dim(-1) == b.dim(b.rank() == 1 ? -1 : -2),
                    "the last dim of a must be the last but one of b"))
    return Tensor();
  bool rowVector = a.rank() == 1, columnVector = b.rank() == 1;
  if (rowVector) a = unsqueeze(a, 0);
  if (columnVector) b = unsqueeze(b, -1);
  DType common = commonDType(std::vector<Tensor>{a, b});
  if (common == DType::Bool) common = DType::I32;
  Tensor product = matmul(a, b, call.has("dtype") ? call.dtype("dtype") : common);
  if (columnVector) product = squeeze(product, -1);
  if (rowVector) product = squeeze(product, columnVector ? -1 : -2);
  return product;
}

Results lowerLinear(OpCall& call) {
  Tensor x = call.arg(0), w = call.arg(1);
  if (!call.require(x.rank() > 0 && w.rank() == 2 && x.dim(-1) == w.dim(1),
                    "w must be [out, in] and x [.., in]"))
    return Tensor();
  bool isVector = x.rank() == 1;
  Tensor product = matmul(isVector ? unsqueeze(x, 0) : x, permute(w, {1, 0}), commonDType(call.operands));
  if (isVector) product = squeeze(product, 0);
  return call.count() > 2 ? product + call.arg(2) : product;
}

}  // namespace svod
