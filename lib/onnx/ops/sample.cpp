// Reading images between their elements.
#include <algorithm>

#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

// --- GridSample

/// How positions outside an axis are brought back.
struct Border {
  std::string mode;  // zeros, border, reflection
  bool alignCorners = false;
  Dims sizes;
  DType dtype = DType::F32;
};

Tensor sizeOf(const Border& border, Tensor like, int axis) {
  return cast(like.builder()->value(border.sizes[axis]), border.dtype);
}

// The position folded back into the axis, which ends at its outer elements or half an element further out.
Tensor reflected(const Border& border, Tensor at, int axis) {
  double edge = border.alignCorners ? 0 : -0.5;
  Tensor length = sizeOf(border, at, axis) + (border.alignCorners ? -1.0 : 0.0);
  Tensor period = max(length * 2.0, 1e-6), from = at - edge;
  Tensor folded = from - floor(from / period) * period;
  return min(folded, period - folded) + edge;
}

// The position that is sampled: inside the borders they do not change it. Of the four elements of a cubic each stops at
// the border by itself, as in PyTorch and ONNX Runtime; two elements away from it all of them are the last one.
Tensor bordered(const Border& border, Tensor at, int axis, bool isCubic) {
  if (border.mode == "zeros") return at;
  Tensor size = sizeOf(border, at, axis);
  if (isCubic && border.mode == "border") return min(max(at, -2.0), size + 1.0);
  double edge = border.alignCorners ? 0 : -0.5;
  Tensor isInside = both(ge(at, edge), le(at, size - 1.0 - edge));
  Tensor inside = border.mode == "border" ? min(max(at, 0.0), size - 1.0) : reflected(border, at, axis);
  return where(isInside, at, inside);
}

// The element that is read for an index.
Tensor borderedIndex(const Border& border, Tensor index, int axis) {
  if (border.mode == "zeros") return index;
  Tensor last = cast(index.builder()->value(border.sizes[axis] - 1), index.dtype());
  if (border.mode == "reflection")
    index = cast(elementwise(Op::Round, {reflected(border, cast(index, border.dtype), axis)}), index.dtype());
  return min(max(index, 0), last);
}

// Weights of the four elements around a position, `part` behind the second.
std::vector<Tensor> cubicWeights(Tensor part) {
  constexpr double kA = -0.75;
  auto inner = [&](Tensor x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1.0; };
  auto outer = [&](Tensor x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  return {outer(part + 1.0), inner(part), inner(1.0 - part), outer(2.0 - part)};
}

Tensor sampleCubic(Tensor x, const std::vector<Tensor>& lead, const std::vector<Tensor>& at, const IndexMap& map) {
  std::vector<Tensor> first;
  std::vector<std::vector<Tensor>> weights;
  int axes = static_cast<int>(at.size()), taps = 1;
  for (const Tensor& p : at) {
    Tensor down = floor(p);
    first.push_back(cast(down, DType::I32) - 1);
    weights.push_back(cubicWeights(p - down));
    taps *= 4;
  }
  std::vector<Tap> all;
  for (int t = 0; t < taps; ++t) {
    std::vector<Tensor> index = lead;
    Tensor weight;
    for (int i = 0, rest = t; i < axes; ++i, rest /= 4) {
      size_t axis = static_cast<size_t>(i);
      Tensor factor = weights[axis][static_cast<size_t>(rest % 4)];
      weight = weight ? weight * factor : factor;
      index.push_back(map(first[axis] + rest % 4, i));
    }
    all.push_back({weight, gather(x, index)});
  }
  return sumOf(all);
}

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, word) != all.end();
}

}  // namespace

Results onnxGridSample(OnnxNode& n) {
  Tensor x = n.arg(0), grid = n.arg(1);
  int axes = x.rank() - 2;
  std::string mode = n.word("mode");
  Border border{n.word("padding_mode"), n.flag("align_corners"), x.dims().slice(2, x.rank()), computeDType(grid)};
  if (!n.require(axes >= 1 && grid.rank() == x.rank() && grid.dim(-1).is(axes) && n.b.agree(x.dim(0), grid.dim(0)),
                 "x is [n, channels, sizes..] and grid [n, sizes.., axes]") ||
      !n.require(isOneOf(border.mode, {"zeros", "border", "reflection"}),
                 "'padding_mode' is zeros, border or reflection") ||
      !n.require(isOneOf(mode, {"nearest", "linear", "bilinear", "cubic", "bicubic"}),
                 "'mode' is linear, nearest or cubic"))
    return Tensor();
  if (axes > 3 && mode != "nearest") return n.unsupported("an image of more than 3 axes", "2 or 3 axes");

  Dims result = Dims{x.dim(0), x.dim(1)} + grid.dims().slice(1, grid.rank() - 1);
  std::vector<Tensor> lead{positionsAlong(n.b, result, 0), positionsAlong(n.b, result, 1)}, at;
  // Infinities, NaN and what no index can hold are -1, as ONNX Runtime has it: exported models make 0 / 0 of empty
  // masks.
  constexpr double kMostIndex = 9e18;
  Tensor points = cast(grid, border.dtype);
  points = where(lt(abs(points), kMostIndex), points, -1.0);
  Tensor wide = unsqueeze(points, 1);  // [n, 1, sizes.., axes]
  const bool isCubic = isOneOf(mode, {"cubic", "bicubic"});
  for (int i = 0; i < axes; ++i) {
    // The last coordinate of a grid point belongs to the first axis.
    Tensor p = squeeze(narrow(wide, -1, n.b.dim(axes - 1 - i), n.b.dim(1)), -1);
    if (!p) return Tensor();
    Tensor size = sizeOf(border, p, i);
    p = border.alignCorners ? (p + 1.0) * 0.5 * (size - 1.0) : ((p + 1.0) * size - 1.0) * 0.5;
    if (mode == "nearest") p = elementwise(Op::Round, {p});
    at.push_back(bordered(border, p, i, isCubic));
  }
  auto map = [&](Tensor index, int axis) { return borderedIndex(border, index, axis); };
  if (mode == "nearest") {
    std::vector<Tensor> index = lead;
    for (int i = 0; i < axes; ++i) index.push_back(map(cast(at[static_cast<size_t>(i)], DType::I32), i));
    return expand(gather(x, index), result);
  }
  Tensor y = isCubic ? sampleCubic(x, lead, at, map) : sumOf(linearTaps(x, lead, at, map));
  return cast(y, x.dtype());
}

// Positions of the result from -1 to 1, times the matrices theta [n, axes, axes + 1].
Results onnxAffineGrid(OnnxNode& n) {
  Tensor theta = n.arg(0);
  Dims size;
  if (std::optional<Dims> declared = n.declaredFor(1); declared && declared->rank() >= 4) {
    size = Dims{(*declared)[0], n.b.dim(1)} + declared->slice(1, declared->rank() - 1);
    if (!n.hasEntries(1, size.rank())) return Tensor();
    // The channels are not part of the result.
    Tensor isChannels = eq(n.b.iota(n.b.dim(size.rank())), 1);
    n.expect({1}, where(isChannels, number(n, 1), cast(n.arg(1), DType::I64)), size);
  } else {
    size = n.sizes(1);
  }
  if (n.b.failed()) return Tensor();
  int axes = size.rank() - 2;
  if (!n.require((axes == 2 || axes == 3) && theta.rank() == 3 && theta.dim(1).is(axes) && theta.dim(2).is(axes + 1),
                 "theta is [n, 2, 3] with a size [n, c, h, w], or [n, 3, 4] with [n, c, d, h, w]"))
    return Tensor();
  DType wide = computeDType(theta);
  Dims sizes = size.slice(2, size.rank());
  Tensor sum;
  for (int i = 0; i <= axes; ++i) {
    Tensor column = squeeze(narrow(cast(theta, wide), 2, n.b.dim(i), n.b.dim(1)), 2);  // [n, axes]
    for (int k = 0; k < axes; ++k) column = unsqueeze(column, 1);                      // [n, 1.., axes]
    if (i < axes) {
      int axis = axes - 1 - i;
      Tensor at = cast(positionsAlong(n.b, sizes, axis), wide), count = cast(n.b.value(sizes[axis]), wide);
      // The only element of an axis lies in its middle.
      at =
          n.flag("align_corners") ? (at * 2.0 - (count - 1.0)) / max(count - 1.0, 1.0) : (at * 2.0 + 1.0) / count - 1.0;
      column = column * unsqueeze(at, -1);
    }
    sum = sum ? sum + column : column;
  }
  return cast(expand(sum, Dims{theta.dim(0)} + sizes + Dims{n.b.dim(axes)}), theta.dtype());
}

}  // namespace svod
