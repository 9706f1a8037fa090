#include "onnx/ops/common.h"

#include <algorithm>
#include <numeric>

namespace svod {

std::vector<int> axesFrom(int begin, int end) {
  std::vector<int> axes(static_cast<size_t>(std::max(0, end - begin)));
  std::iota(axes.begin(), axes.end(), begin);
  return axes;
}

Tensor along(Tensor vector, int rank, int axis) {
  if (vector && vector.rank() == 1)
    for (int i = axis + 1; i < rank; ++i) vector = unsqueeze(vector, -1);
  return vector;
}

Tensor constantOf(const OnnxNode& n, DType dtype, std::vector<int64_t> dims, const std::vector<double>& values) {
  HostTensor host = HostTensor::zeros(dtype, std::move(dims));
  for (size_t i = 0; i < values.size(); ++i) host.set(static_cast<int64_t>(i), Scalar::of(dtype, values[i]));
  return n.constantTensor(host);
}

// --- Windows

Attributes OnnxWindow::attributes() const {
  const AttributeValue padding = symbolicPads.rank() > 0 ? AttributeValue(symbolicPads) : listAttribute(pads);
  return {{"stride", listAttribute(strides)}, {"padding", padding}, {"dilation", listAttribute(dilations)}};
}

Tensor OnnxWindow::sized(const OnnxNode& n, Tensor y) const {
  if (!y || counts.rank() == 0) return y;
  const Dims dims = y.dims().slice(0, y.rank() - counts.rank()) + counts;
  return dims == y.dims() ? y : n.call("reshape", {y}, {{"shape", dims}});
}

std::pair<Dim, Dim> OnnxWindow::takenOf(const OnnxNode& n, const Tensor& x, size_t axis) const {
  const Dim size = x.dim(2 + static_cast<int>(axis));
  return {n.b.dim((kernel[axis] - 1) * dilations[axis] + 1), size + (pads[axis] + pads[kernel.size() + axis])};
}

bool OnnxWindow::fits(const OnnxNode& n, const Tensor& x, int64_t farthest, bool mayHang) const {
  if (symbolicPads.rank() > 0) return true;  // as many as it takes
  bool fitsAll = true;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const auto [taken, room] = takenOf(n, x, i);
    fitsAll &= n.prefer(mayHang ? taken - (strides[i] - 1) : taken, room, farthest);
  }
  return fitsAll;
}

namespace {

// `name` with one entry per axis; `absent` everywhere when it is not given.
bool perAxis(const OnnxNode& n, std::string_view name, size_t count, int64_t absent, std::vector<int64_t>& all) {
  all = n.integers(name);
  if (all.empty()) all.assign(count, absent);
  return n.require(all.size() == count, "'" + std::string(name) + "' has " + std::to_string(count) + " entries");
}

// Pads of SAME_UPPER and SAME_LOWER: as many windows as there are strides in the axis.
void padToSame(const OnnxNode& n, const Tensor& x, bool isUpper, OnnxWindow& w) {
  const int count = static_cast<int>(w.kernel.size());
  Dims before, after, windows;
  for (int i = 0; i < count; ++i) {
    const size_t k = static_cast<size_t>(i);
    const Dim size = x.dim(2 + i), zero = n.b.dim(0);
    windows.add(floordiv(size + (w.strides[k] - 1), w.strides[k]));
    Dim total = (windows[i] - 1) * w.strides[k] + ((w.kernel[k] - 1) * w.dilations[k] + 1) - size;
    if (n.b.mayBeNegative(total.node())) total = larger(total, zero);
    const Dim less = floordiv(total, 2), more = floordiv(total + 1, 2);
    before.add(isUpper ? less : more), after.add(isUpper ? more : less);
  }
  const Dims all = before + after;
  if (std::ranges::all_of(all, [](const Dim& d) { return d.isConst(); })) {
    for (int i = 0; i < all.rank(); ++i) w.pads[static_cast<size_t>(i)] = all[i].constant();
  } else {
    w.symbolicPads = all, w.counts = windows;
  }
}

}  // namespace

std::optional<OnnxWindow> windowOf(const OnnxNode& n, const Tensor& x, const std::vector<int64_t>& kernel) {
  OnnxWindow w;
  w.kernel = kernel;
  size_t count = kernel.size();
  bool fits = n.require(x.rank() == static_cast<int>(count) + 2 && count > 0,
                        "x is [n, channels, sizes..] with one size per entry of the kernel") &&
              perAxis(n, "strides", count, 1, w.strides) && perAxis(n, "dilations", count, 1, w.dilations) &&
              perAxis(n, "pads", 2 * count, 0, w.pads);
  if (!fits) return std::nullopt;
  bool isPositive = std::ranges::all_of(w.strides, [](int64_t s) { return s > 0 && s < (1 << 30); }) &&
                    std::ranges::all_of(w.dilations, [](int64_t d) { return d > 0 && d < (1 << 30); }) &&
                    std::ranges::all_of(w.kernel, [](int64_t k) { return k > 0 && k < (1 << 30); });
  if (!n.require(isPositive, "kernel, strides and dilations are positive")) return std::nullopt;
  std::string mode = n.word("auto_pad");
  if (mode == "NOTSET" || mode.empty()) return w;
  w.pads.assign(2 * count, 0);
  if (mode == "VALID") return w;
  if (!n.require(mode == "SAME_UPPER" || mode == "SAME_LOWER", "'auto_pad' is NOTSET, SAME_UPPER, SAME_LOWER or VALID"))
    return std::nullopt;
  padToSame(n, x, mode == "SAME_UPPER", w);
  return w;
}

// --- Quantization

Tensor quantParameter(const OnnxNode& n, int i, int rank, int axis) {
  Tensor p = n.arg(i);
  if (!p) return {};
  Dim count = n.b.dim(1);
  for (const Dim& d : p.dims()) count = count * d;
  if (!count.is(1)) return along(p, rank, axis);
  if (n.isKnown(i))
    if (std::optional<HostTensor> value = n.constant(i)) return n.b.constant(value->at(0));
  return reshape(p, {});
}

std::optional<IntegerFactors> integerFactors(const OnnxNode& n, int axisA, int axisB, Dim terms) {
  constexpr int64_t kMostTerms = INT32_MAX / (255 * 255);
  const Dequantized *a = n.dequantized(0), *b = n.dequantized(1);
  if (!a || !b || terms.max() > kMostTerms) return std::nullopt;
  auto scaleOf = [](const Dequantized& d, int axis) -> Tensor {
    Tensor scale = cast(d.scale, DType::F32);
    if (std::ranges::all_of(scale.dims(), [](const Dim& dim) { return dim.is(1); })) return reshape(scale, Dims());
    return d.axis == axis ? scale : Tensor();
  };
  Tensor scaleA = scaleOf(*a, axisA), scaleB = scaleOf(*b, axisB);
  if (!scaleA || !scaleB) return std::nullopt;
  return IntegerFactors{*a, *b, scaleA, scaleB};
}

Tensor scaled(const OnnxNode& n, const IntegerFactors& factors, Tensor sum, int axisA, int axisB, Tensor bias) {
  if (!sum) return {};
  const Tensor scale = along(factors.scaleA, sum.rank(), axisA) * along(factors.scaleB, sum.rank(), axisB);
  Tensor y = cast(sum, DType::F32) * scale;
  if (bias) y = y + bias;
  if (n.valueOf(scale) && (!bias || n.valueOf(bias))) n.setScaledSum(y, {sum, scale, bias});
  return y;
}

Tensor withoutZero(const OnnxNode& n, Tensor x, int i, int axis) {
  Tensor zero = quantParameter(n, i, x.rank(), axis);
  x = cast(x, DType::I32);
  return zero ? x - cast(zero, DType::I32) : x;
}

Tensor roundedTo(DType dtype, Tensor x, Tensor zero) {
  Tensor rounded = elementwise(Op::Round, {x});
  if (zero) rounded = rounded + cast(zero, x.dtype());
  if (isSigned(dtype)) rounded = where(lt(minInt(dtype), rounded), rounded, minInt(dtype));  // a cast of NaN gives 0
  return cast(rounded, dtype);
}

// --- Samples between elements

std::vector<Tap> linearTaps(Tensor x, const std::vector<Tensor>& lead, const std::vector<Tensor>& at,
                            const IndexMap& map) {
  std::vector<Tensor> low, part;
  for (const Tensor& p : at) {
    Tensor down = floor(p);
    low.push_back(cast(down, DType::I32));
    part.push_back(p - down);
  }
  std::vector<Tap> taps;
  int axes = static_cast<int>(at.size());
  for (int corner = 0; corner < 1 << axes; ++corner) {
    Tensor weight;
    std::vector<Tensor> index = lead;
    for (int i = 0; i < axes; ++i) {
      bool isHigh = corner >> (axes - 1 - i) & 1;
      Tensor factor = isHigh ? part[i] : 1.0 - part[i];
      weight = weight ? weight * factor : factor;
      Tensor position = isHigh ? low[i] + 1 : low[i];
      index.push_back(map ? map(position, i) : position);
    }
    taps.push_back({weight, gather(x, index)});
  }
  return taps;
}

Tensor sumOf(const std::vector<Tap>& taps) {
  Tensor total;
  for (const Tap& t : taps) {
    Tensor term = t.weight * cast(t.value, t.weight.dtype());
    total = total ? total + term : term;
  }
  return total;
}

}  // namespace svod
