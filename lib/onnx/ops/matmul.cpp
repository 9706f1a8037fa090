// Products of matrices.
#include "onnx/node.h"

namespace svod {

// alpha * a' * b' + beta * c
Results onnxGemm(OnnxNode& n) {
  Tensor a = n.arg(0), b = n.arg(1);
  if (!n.require(a.rank() == 2 && b.rank() == 2, "a and b are matrices")) return Tensor();
  if (n.flag("transA")) a = n.call("transpose", {a});
  if (n.flag("transB")) b = n.call("transpose", {b});
  DType dtype = a.dtype();
  Tensor result = n.call("matmul", {a, b});
  auto scaled = [&](Tensor x, double by) {
    if (by == 1) return x;
    return isFloat(dtype) ? x * by : cast(cast(x, DType::F64) * by, dtype);
  };
  result = scaled(result, n.number("alpha"));
  if (n.has(2)) result = result + scaled(n.arg(2), n.number("beta"));
  return result;
}

}  // namespace svod
