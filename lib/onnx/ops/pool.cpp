// Pooling.
#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

/// The graph ops for pooling with the attributes of a node.
struct Pooling {
  OnnxWindow window;
  Attributes attributes;
  bool mayHang = false;  // over the end, beyond the pads, where an axis is too short for a window

  Tensor call(OnnxNode& n, std::string_view graphOp, Tensor x) const {
    return window.sized(n, n.call(graphOp, {x}, attributes));
  }
};

// Nothing after an error.
std::optional<Pooling> poolingOf(OnnxNode& n) {
  std::optional<OnnxWindow> window = windowOf(n, n.arg(0), n.integers("kernel_shape"));
  if (!window) return std::nullopt;
  Pooling pooling{*window, window->attributes()};
  pooling.attributes.emplace_back("kernel", listAttribute(window->kernel));
  const bool rounds = n.flag("ceil_mode") != 0;
  pooling.attributes.emplace_back("ceil", rounds);
  // The number of windows is rounded toward zero: to one where an axis is too short for it by less than a stride. Sizes
  // so small that nobody has them are left out instead: the large values in front of a model are read without a check.
  constexpr int64_t kSmallSize = 8;
  // A last window that hangs over the end begins inside: the axis may lack less than a stride for it.
  pooling.mayHang = !window->fits(n, n.arg(0), kSmallSize, rounds) && !rounds;
  if (pooling.mayHang) pooling.attributes.emplace_back("toward_zero", true);
  return pooling;
}

// Row-major positions within an image as positions within the whole of x. In column-major storage the first
// spatial axis is the fastest.
Tensor flatPositions(OnnxNode& n, Tensor x, Tensor inImage) {
  Dim image = n.b.dim(1), stride = n.b.dim(1);
  for (const Dim& d : x.dims().slice(2, x.rank())) image = image * d;
  if (n.integer("storage_order") != 0) {
    Tensor rest = inImage, columns;
    std::vector<Tensor> coordinates;
    for (int i = x.rank() - 1; i >= 2; --i) {
      Tensor size = cast(n.b.value(x.dim(i)), DType::I64);
      coordinates.insert(coordinates.begin(), floormod(rest, size));
      rest = floordiv(rest, size);
    }
    for (int i = 2; i < x.rank(); ++i) {
      Tensor term = coordinates[static_cast<size_t>(i - 2)] * cast(n.b.value(stride), DType::I64);
      columns = columns ? columns + term : term;
      stride = stride * x.dim(i);
    }
    inImage = columns;
  }
  Tensor plane = positionsAlong(n.b, inImage.dims(), 0) * n.b.value(x.dim(1)) + positionsAlong(n.b, inImage.dims(), 1);
  return inImage + cast(plane * n.b.value(image), DType::I64);
}

// |x| to the power p, and the p-th root.
Tensor powered(OnnxNode& n, Tensor x, double p) {
  if (p == 1) return n.call("abs", {x});
  return p == 2 ? x * x : pow(n.call("abs", {x}), p);
}
Tensor rooted(Tensor x, double p) {
  if (p == 1) return x;
  return p == 2 ? sqrt(x) : pow(x, 1 / p);
}

double exponent(OnnxNode& n) { return n.opset < 2 ? n.number("p") : static_cast<double>(n.integer("p")); }

}  // namespace

Results onnxMaxPool(OnnxNode& n) {
  const std::optional<Pooling> pooling = poolingOf(n);
  if (!pooling) return Tensor();
  Tensor x = n.arg(0), largest = pooling->call(n, "max_pool", x);
  if (!n.wants(1)) return largest;
  Tensor positions = pooling->call(n, "max_pool_positions", x);
  if (!positions) return Tensor();
  return std::vector<Tensor>{largest, flatPositions(n, x, positions)};
}

Results onnxAveragePool(OnnxNode& n) {
  std::optional<Pooling> pooling = poolingOf(n);
  if (!pooling) return Tensor();
  const bool countsPads = n.flag("count_include_pad") != 0;
  constexpr int kOnlyPads = 19;  // from this opset on, what hangs over them does not count
  if (countsPads && pooling->mayHang && n.opset < kOnlyPads) {
    const Tensor x = n.arg(0), sums = pooling->call(n, "sum_pool", cast(x, computeDType(x)));
    int64_t taps = 1;
    for (int64_t k : pooling->window.kernel) taps *= k;
    return cast(sums / taps, x.dtype());
  }
  pooling->attributes.emplace_back("count_include_pad", countsPads);
  return pooling->call(n, "avg_pool", n.arg(0));
}

Results onnxLpPool(OnnxNode& n) {
  const std::optional<Pooling> pooling = poolingOf(n);
  double p = exponent(n);
  if (!pooling || !n.require(p > 0, "'p' is positive")) return Tensor();
  Tensor x = n.arg(0), wide = cast(x, computeDType(x));
  return cast(rooted(pooling->call(n, "sum_pool", powered(n, wide, p)), p), x.dtype());
}

Results onnxGlobalLpPool(OnnxNode& n) {
  Tensor x = n.arg(0);
  double p = exponent(n);
  if (!n.require(x.rank() >= 3, "x is [n, channels, sizes..]") || !n.require(p > 0, "'p' is positive")) return Tensor();
  Tensor terms = powered(n, cast(x, computeDType(x)), p);
  return cast(rooted(reduce(Op::Add, terms, axesFrom(2, x.rank()), true), p), x.dtype());
}

// Indices count in the result without 'output_shape'; a larger result has the others at its end.
Results onnxMaxUnpool(OnnxNode& n) {
  Tensor x = n.arg(0), indices = n.arg(1);
  std::optional<OnnxWindow> w = windowOf(n, x, n.integers("kernel_shape"));
  if (!w || !n.require(indices.dims() == x.dims(), "x and indices have one shape")) return Tensor();
  Dims dims = x.dims().slice(0, 2);
  size_t count = w->kernel.size();
  Dim total = x.dim(0) * x.dim(1);
  for (size_t i = 0; i < count; ++i) {
    dims.add((x.dim(2 + static_cast<int>(i)) - 1) * w->strides[i] + (w->kernel[i] - w->pads[i] - w->pads[count + i]));
    total = total * dims[-1];
  }
  Dim elements = n.b.dim(1);
  for (const Dim& d : x.dims()) elements = elements * d;
  Tensor zeros = n.b.full({total}, n.b.constant(Scalar::ofInt(DType::I32, 0)));
  std::vector<Tensor> at{reshape(indices, {elements})};
  Tensor y = reshape(scatter(Op::Store, cast(zeros, x.dtype()), at, reshape(x, {elements})), dims);
  if (!n.has(2) || !y) return y;
  Dims wanted = n.sizes(2), before, after;
  if (n.b.failed() || !n.require(wanted.rank() == x.rank(), "'output_shape' has an entry per axis")) return Tensor();
  for (int i = 0; i < x.rank(); ++i) before.add(n.b.dim(0)), after.add(wanted[i] - dims[i]);
  return n.call("pad", {y}, {{"before", before}, {"after", after}});
}

}  // namespace svod
