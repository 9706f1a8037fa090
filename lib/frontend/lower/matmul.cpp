// Products of matrices as multiply and sum over a shared axis.
#include "frontend/lower/common.h"

namespace svod {

namespace {

// Products and sums are taken in at least f32 or i32, then rounded to `result`.
Tensor product(Tensor a, Tensor b, DType result) {
  DType wide = sumDType(commonDType(std::vector<Tensor>{a, b}));
  return cast(matrixProduct(a, b, promote(wide, isFloat(result) ? sumDType(result) : result)), result);
}

}  // namespace

Results lowerMatmul(OpCall& call) {
  Tensor a = call.arg(0), b = call.arg(1);
  if (!call.require(a.rank() > 0 && b.rank() > 0, "needs a vector or matrix on both sides")) return Tensor();
  if (!call.require(call.b.agree(a.dim(-1), b.dim(b.rank() == 1 ? -1 : -2)),
                    "the last dim of a must be the last but one of b"))
    return Tensor();
  bool rowVector = a.rank() == 1, columnVector = b.rank() == 1;
  if (rowVector) a = unsqueeze(a, 0);
  if (columnVector) b = unsqueeze(b, -1);
  DType common = commonDType(std::vector<Tensor>{a, b});
  if (common == DType::Bool) common = DType::I32;
  Tensor result = product(a, b, call.has("dtype") ? call.dtype("dtype") : common);
  if (columnVector) result = squeeze(result, -1);
  if (rowVector) result = squeeze(result, columnVector ? -1 : -2);
  return result;
}

Results lowerLinear(OpCall& call) {
  Tensor x = call.arg(0), w = call.arg(1);
  if (!call.require(x.rank() > 0 && w.rank() == 2 && call.b.agree(x.dim(-1), w.dim(1)),
                    "w must be [out, in] and x [.., in]"))
    return Tensor();
  bool isVector = x.rank() == 1;
  Tensor result = product(isVector ? unsqueeze(x, 0) : x, permute(w, {1, 0}), commonDType(call.operands));
  if (isVector) result = squeeze(result, 0);
  return call.count() > 2 ? result + call.arg(2) : result;
}

}  // namespace svod
