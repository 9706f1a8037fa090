// Products of matrices.
#include "onnx/ops/common.h"

namespace svod {

namespace {

// a * b, in integers where both were dequantized before.
Tensor product(OnnxNode& n, bool transposesA, bool transposesB) {
  auto factor = [&](Tensor x, bool transposes) { return transposes ? n.call("transpose", {x}) : x; };
  Tensor a = n.arg(0), b = n.arg(1);
  std::optional<IntegerFactors> factors;
  if (a.rank() >= 1 && b.rank() >= 1)
    factors = integerFactors(n, a.rank() < 2 ? -1 : a.rank() - (transposesA ? 1 : 2),
                             b.rank() < 2 ? -1 : b.rank() - (transposesB ? 2 : 1), a.dim(transposesA ? 0 : -1));
  if (!factors) return n.call("matmul", {factor(a, transposesA), factor(b, transposesB)});
  Tensor sum = n.call("matmul", {factor(factors->a.distance, transposesA), factor(factors->b.distance, transposesB)});
  if (!sum) return {};
  int columns = sum.rank() - 1, rows = b.rank() < 2 ? columns : columns - 1;
  return cast(scaled(n, *factors, sum, rows, columns, {}), a.dtype());
}

}  // namespace

Results onnxMatMul(OnnxNode& n) { return product(n, false, false); }

// alpha * a' * b' + beta * c
Results onnxGemm(OnnxNode& n) {
  Tensor a = n.arg(0), b = n.arg(1);
  if (!n.require(a.rank() == 2 && b.rank() == 2, "a and b are matrices")) return Tensor();
  DType dtype = a.dtype();
  Tensor result = product(n, n.flag("transA"), n.flag("transB"));
  auto times = [&](Tensor x, double by) {
    if (by == 1) return x;
    return isFloat(dtype) ? x * by : cast(cast(x, DType::F64) * by, dtype);
  };
  result = times(result, n.number("alpha"));
  if (n.has(2)) result = result + times(n.arg(2), n.number("beta"));
  return result;
}

}  // namespace svod
