// Resizing and rearranging images. Positions are fractions of integers, so nearest neighbours are exact.
#include <cmath>
#include <numeric>

#include "frontend/lower/common.h"

namespace svod {

namespace {

/// Source coordinate of every output position, as numerator / denominator in Index arithmetic.
struct Coordinates {
  Tensor numerator, denominator;
};

Coordinates coordinatesOf(OpCall& call, Dim in, Dim out) {
  GraphBuilder& b = call.b;
  std::string rule = call.word("coordinates");
  Tensor o = b.iota(out);
  if (rule == "asymmetric") return {o * b.value(in), b.value(out)};
  if (rule == "align_corners") return {o * b.value(in - 1), b.value(larger(out - 1, b.dim(1)))};
  return {(o * 2 + 1) * b.value(in) - b.value(out), b.value(out * 2)};
}

Tensor clamped(Tensor at, Dim size) { return min(max(at, 0), at.builder()->value(size - 1)); }

Tensor resizeNearest(OpCall& call, Tensor x, int axis, Dim out) {
  auto [n, d] = coordinatesOf(call, x.dim(axis), out);
  if (!n || !d) return {};
  std::string rounding = call.word("rounding");
  Tensor at;
  if (rounding == "floor") at = floordiv(n, d);
  if (rounding == "ceil") at = -floordiv(-n, d);
  if (rounding == "prefer_floor") at = -floordiv(d - n * 2, d * 2);  // halves down
  if (rounding == "prefer_ceil") at = floordiv(n * 2 + d, d * 2);    // halves up
  return at ? take(x, axis, clamped(at, x.dim(axis))) : at;
}

Tensor resizeLinear(OpCall& call, Tensor x, int axis, Dim out) {
  auto [n, d] = coordinatesOf(call, x.dim(axis), out);
  if (!n || !d) return {};
  Tensor left = floordiv(n, d);
  Tensor weight = cast(n - left * d, x.dtype()) / cast(d, x.dtype());
  for (int i = axis + 1; i < x.rank(); ++i) weight = unsqueeze(weight, -1);
  Tensor a = take(x, axis, clamped(left, x.dim(axis))), c = take(x, axis, clamped(left + 1, x.dim(axis)));
  return a * (1.0 - weight) + c * weight;
}

// The axes of a resize: all but the first two by default.
std::vector<int> resizedAxes(OpCall& call) {
  std::vector<int> axes;
  for (int a : call.axes("axes")) {
    axes.push_back(call.b.axis(call.arg(0), a));
    if (axes.back() < 0) return {};
  }
  if (!call.has("axes"))
    for (int i = 2; i < call.arg(0).rank(); ++i) axes.push_back(i);
  return axes;
}

// Sizes of the resized axes; nothing after an error.
Dims resizedDims(OpCall& call, const std::vector<int>& axes) {
  int count = static_cast<int>(axes.size());
  Dims sizes = call.dims("size");
  std::vector<double> scales = call.numbers("scale");
  if (call.has("size") == call.has("scale")) {
    call.fail(Diag::BadAttribute, "give either 'size' or 'scale'");
    return {};
  }
  if (scales.size() == 1) scales.assign(axes.size(), scales[0]);
  if ((call.has("size") ? sizes.rank() : static_cast<int>(scales.size())) != count || count == 0) {
    call.fail(Diag::BadAttribute, std::to_string(count) + " axes are resized",
              "give one size or scale for each, and name them with axes=[..]");
    return {};
  }
  for (int i = 0; i < count && call.has("scale"); ++i) {
    Dim in = call.arg(0).dim(axes[i]);
    double product = in.isConst() ? std::floor(static_cast<double>(in.constant()) * scales[i]) : scales[i];
    bool isUsable = product >= 0 && product < 1e15 && (in.isConst() || product == std::floor(product));
    if (!isUsable) {
      call.fail(Diag::BadAttribute, "a scale of " + std::to_string(scales[i]) + " for " + describe(in),
                "scales are positive, and integers for symbolic dims");
      return {};
    }
    sizes.add(in.isConst() ? call.b.dim(static_cast<int64_t>(product)) : in * static_cast<int64_t>(product));
  }
  return sizes;
}

}  // namespace

Results lowerResize(OpCall& call) {
  Tensor x = call.arg(0);
  std::vector<int> axes = resizedAxes(call);
  Dims sizes = resizedDims(call, axes);
  bool isLinear = call.word("mode") == "linear";
  if (isLinear) x = cast(x, computeDType(x));
  for (int i = 0; i < sizes.rank() && x; ++i) {
    if (!call.require(x.dim(axes[i]).max() > 0 || sizes[i].max() == 0, "resized axes need elements")) return Tensor();
    x = isLinear ? resizeLinear(call, x, axes[i], sizes[i]) : resizeNearest(call, x, axes[i], sizes[i]);
  }
  if (sizes.rank() == 0) return Tensor();
  return isLinear ? cast(x, resultDType(call.arg(0))) : x;
}

namespace {

// The factor, or 0 and an error.
int64_t factorOf(OpCall& call) {
  int64_t factor = call.integer("factor");
  if (!call.require(call.arg(0).rank() >= 3, "x is [.., channels, height, width]")) return 0;
  if (factor >= 1 && factor <= 65536) return factor;
  call.fail(Diag::BadAttribute, "a factor of " + std::to_string(factor), "use 1 to 65536");
  return 0;
}

}  // namespace

// [.., c * r * r, h, w] to [.., c, h * r, w * r].
Results lowerPixelShuffle(OpCall& call) {
  Tensor x = call.arg(0);
  int64_t r = factorOf(call);
  if (r == 0) return Tensor();
  Dim channels = floordiv(x.dim(-3), r * r), h = x.dim(-2), w = x.dim(-1), factor = call.b.dim(r);
  if (!call.require(channels * (r * r) == x.dim(-3), "the channels must be a multiple of " + std::to_string(r * r)))
    return Tensor();
  Dims lead = x.dims().slice(0, x.rank() - 3);
  int n = lead.rank();
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.end(), {n, n + 3, n + 1, n + 4, n + 2});
  Tensor split = reshape(x, lead + Dims{channels, factor, factor, h, w});
  return reshape(permute(split, order), lead + Dims{channels, h * r, w * r});
}

// [.., c, h * r, w * r] to [.., c * r * r, h, w].
Results lowerPixelUnshuffle(OpCall& call) {
  Tensor x = call.arg(0);
  int64_t r = factorOf(call);
  if (r == 0) return Tensor();
  Dim c = x.dim(-3), h = floordiv(x.dim(-2), r), w = floordiv(x.dim(-1), r), factor = call.b.dim(r);
  if (!call.require(call.b.agree(h * r, x.dim(-2)) && call.b.agree(w * r, x.dim(-1)),
                    "height and width must be multiples of " + std::to_string(r)))
    return Tensor();
  Dims lead = x.dims().slice(0, x.rank() - 3);
  x = call.b.fitted(x, lead + Dims{c, h * r, w * r});
  int n = lead.rank();
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.end(), {n, n + 2, n + 4, n + 1, n + 3});
  Tensor split = reshape(x, lead + Dims{c, h, factor, w, factor});
  return reshape(permute(split, order), lead + Dims{c * (r * r), h, w});
}

}  // namespace svod
