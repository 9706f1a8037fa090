// Linear algebra.
#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

constexpr int64_t kLargestMatrix = 64;  // every column becomes a handful of nodes

// Element [.., i, j], without these axes.
Tensor element(OnnxNode& n, Tensor x, int64_t i, int64_t j) {
  Tensor row = squeeze(narrow(x, -2, n.b.dim(i), n.b.dim(1)), -2);
  return squeeze(narrow(row, -1, n.b.dim(j), n.b.dim(1)), -1);
}

// One column eliminated: the pivot, with the sign of the exchange, and the rest of the matrix.
struct Step {
  Tensor pivot, rest;
};
Step eliminated(OnnxNode& n, Tensor x, int64_t size) {
  Tensor column = squeeze(narrow(x, -1, n.b.dim(0), n.b.dim(1)), -1);  // [.., size]
  Tensor best = n.call("argmax", {abs(column)}, {{"axis", -1}, {"keepdims", true}});
  Tensor i = cast(n.b.iota(n.b.dim(size)), DType::I64);
  Tensor isBest = eq(i, best);  // [.., size]
  auto pick = [&](Tensor rows) { return sum(where(unsqueeze(isBest, -1), rows, 0), -2, true); };
  Tensor pivotRow = contiguous(pick(x));  // [.., 1, size]
  // The first row takes the place of the pivot's.
  Tensor firstRow = narrow(x, -2, n.b.dim(0), n.b.dim(1));
  Tensor swapped = where(unsqueeze(isBest, -1), firstRow, x);
  Tensor below = narrow(swapped, -2, n.b.dim(1), n.b.dim(size - 1));
  Tensor pivot = element(n, pivotRow, 0, 0);
  Tensor divisor = where(eq(pivot, 0), 1.0, pivot);
  Tensor factor = narrow(below, -1, n.b.dim(0), n.b.dim(1)) / unsqueeze(unsqueeze(divisor, -1), -1);
  Tensor rest =
      narrow(below, -1, n.b.dim(1), n.b.dim(size - 1)) - factor * narrow(pivotRow, -1, n.b.dim(1), n.b.dim(size - 1));
  Tensor sign = where(eq(squeeze(best, -1), 0), 1.0, -1.0);
  return {pivot * cast(sign, pivot.dtype()), contiguous(rest)};
}

}  // namespace

// Gaussian elimination with the largest pivot of each column.
Results onnxDet(OnnxNode& n) {
  Tensor x = n.arg(0);
  if (!n.require(x.rank() >= 2 && n.b.agree(x.dim(-1), x.dim(-2)), "x is [.., m, m]")) return Tensor();
  if (!x.dim(-1).isConst() || x.dim(-1).constant() > kLargestMatrix)
    return n.unsupported("the determinant of a matrix of " + describe(x.dim(-1)) + " rows", "1 to 64 rows");
  int64_t size = x.dim(-1).constant();
  Tensor rest = cast(x, computeDType(x));
  if (size == 0) return n.b.full(x.dims().slice(0, x.rank() - 2), n.b.constant(Scalar::of(x.dtype(), 1)));
  Tensor product;
  for (; size > 2 && rest; --size) {
    Step step = eliminated(n, rest, size);
    product = product ? product * step.pivot : step.pivot;
    rest = step.rest;
  }
  if (!rest) return Tensor();
  Tensor last = element(n, rest, 0, 0);
  if (size == 2) last = last * element(n, rest, 1, 1) - element(n, rest, 0, 1) * element(n, rest, 1, 0);
  return cast(product ? product * last : last, x.dtype());
}

}  // namespace svod
