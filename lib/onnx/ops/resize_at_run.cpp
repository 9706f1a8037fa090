#include "onnx/ops/resize_at_run.h"

#include <algorithm>
#include <cmath>

#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

/// What resize_taps.h calls ResizeAxis, as f64 scalars of the run.
struct AxisAtRun {
  int axis = 0;
  Dim out;
  Tensor in, scale, length, start, end;
};

Tensor entryOf(OnnxNode& n, int operand, size_t i) {
  return squeeze(narrow(cast(n.arg(operand), DType::F64), 0, n.b.dim(static_cast<int64_t>(i)), n.b.dim(1)), 0);
}

bool isGiven(OnnxNode& n, int operand) { return n.has(operand) && !n.arg(operand).dim(0).is(0); }

Tensor numberOf(OnnxNode& n, double value) { return n.b.constant(Scalar::ofFloat(DType::F64, value)); }
Tensor numberOf(OnnxNode& n, Dim size) { return cast(n.b.value(size), DType::F64); }

Tensor best(OnnxNode& n, Tensor a, Tensor b) {
  return n.word("keep_aspect_ratio_policy") == "not_smaller" ? max(a, b) : min(a, b);
}

// Scales and lengths of all axes, as axisOf() and keepAspect() in resize.cpp find them.
std::vector<AxisAtRun> axesOf(OnnxNode& n, const ResizeAtRun& r) {
  std::vector<AxisAtRun> all;
  const bool hasScales = r.isKnown ? !r.scales.empty() : isGiven(n, 2);
  const bool hasRegion = r.rule.coordinates == "tf_crop_and_resize";
  const bool keepsAspect = r.isKnown ? r.asked.rank() > 0 : !hasScales && !stretches(n);
  Tensor common;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    AxisAtRun a;
    a.axis = r.axes[i], a.out = r.sizes[static_cast<int>(i)];
    a.in = numberOf(n, n.arg(0).dim(a.axis));
    Tensor given = !r.isKnown    ? entryOf(n, hasScales ? 2 : 3, i)
                   : hasScales   ? numberOf(n, r.scales[i])
                   : keepsAspect ? numberOf(n, r.asked[static_cast<int>(i)])
                                 : numberOf(n, a.out);
    a.scale = hasScales ? given : given / max(a.in, 1.0);
    a.length = hasScales ? a.in * a.scale : given;
    const size_t end = i + r.axes.size();
    if (hasRegion && r.isKnown) a.start = numberOf(n, r.region[i]), a.end = numberOf(n, r.region[end]);
    if (hasRegion && !r.isKnown) a.start = entryOf(n, 1, i), a.end = entryOf(n, 1, end);
    common = common ? best(n, common, a.scale) : a.scale;
    all.push_back(a);
  }
  for (AxisAtRun& a : all)
    if (keepsAspect) a.scale = common, a.length = a.in * common;
  return all;
}

// The size that the axis has by the scale of that of the axes which decides, exactly: halves are rounded up.
Tensor keptSize(OnnxNode& n, const std::vector<AxisAtRun>& axes, const AxisAtRun& a) {
  Tensor size;
  for (size_t k = 0; k < axes.size(); ++k) {
    Tensor from = max(axes[k].in, 1.0);
    Tensor other = floor((entryOf(n, 3, k) * a.in * 2.0 + from) / (from * 2.0));
    size = size ? best(n, size, other) : other;
  }
  return size;
}

// Lengths of the result are rounded down.
void expectSizes(OnnxNode& n, const ResizeAtRun& r, const std::vector<AxisAtRun>& axes) {
  const bool keepsAspect = !isGiven(n, 2) && !stretches(n);
  if (!isGiven(n, 2) && n.isKnown(3) && !keepsAspect) return;
  std::vector<Tensor> sizes;
  for (const AxisAtRun& a : axes)
    sizes.push_back(cast(keepsAspect ? keptSize(n, axes, a) : floor(a.length), DType::I64));
  n.expect({1, 2, 3}, n.call("vector", sizes), r.sizes);
}

// sourceOf() in resize_taps.cpp.
Tensor sourceAtRun(const ResizeRule& rule, const AxisAtRun& a, Tensor x) {
  const std::string& c = rule.coordinates;
  Tensor half = (x + 0.5) / a.scale;
  if (c == "align_corners") return where(eq(a.length, 1.0), 0.0, x * (a.in - 1.0) / (a.length - 1.0));
  if (c == "asymmetric") return x / a.scale;
  if (c == "pytorch_half_pixel") return where(le(a.length, 1.0), 0.0, half - 0.5);
  if (c == "tf_half_pixel_for_nn") return half;
  if (c == "tf_crop_and_resize") {
    Tensor last = a.in - 1.0;
    return where(le(a.length, 1.0), (a.start + a.end) * 0.5 * last,
                 a.start * last + x * (a.end - a.start) * last / (a.length - 1.0));
  }
  if (c != "half_pixel_symmetric") return half - 0.5;
  return a.in * 0.5 * (1.0 - cast(x.builder()->value(a.out), DType::F64) / a.length) + half - 0.5;
}

Tensor roundedPosition(const std::string& how, Tensor at) {
  if (how == "floor") return floor(at);
  if (how == "ceil") return ceil(at);
  return how == "round_prefer_ceil" ? floor(at + 0.5) : ceil(at - 0.5);
}

Tensor weightOf(const ResizeRule& rule, Tensor distance) {
  Tensor x = abs(distance);
  if (rule.mode == "linear") return max(1.0 - x, 0.0);
  double a = rule.cubicA;
  Tensor inner = ((a + 2) * x - (a + 3)) * x * x + 1.0, outer = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return where(le(x, 1.0), inner, where(lt(x, 2.0), outer, 0.0));
}

// How far the elements lie that one of the result is made of. The scale is at least out / in, or, where the size was
// rounded to the nearest number, (out - 1/2) / in.
Dim reachOf(OnnxNode& n, const ResizeAtRun& r, size_t i, const AxisAtRun& a) {
  const int64_t least = r.rule.mode == "linear" ? 1 : 2;
  const Dim in = n.arg(0).dim(a.axis), reach = n.b.dim(least);
  const bool isRounded = r.isKnown ? r.asked.rank() > 0 : !isGiven(n, 2) && !stretches(n);
  if (!r.rule.antialias) return reach;
  if (r.isKnown && !r.scales.empty())
    return n.b.dim(static_cast<int64_t>(std::ceil(static_cast<double>(least) / std::min(r.scales[i], 1.0))));
  if (!isRounded && in.max() <= a.out.min()) return reach;
  const Dim halves = larger(isRounded ? a.out * 2 - 1 : a.out * 2, n.b.dim(1));
  return larger(floordiv(in * reach * 2 + halves - 1, halves), reach);
}

// x along one axis. `outside` gathers where nothing may be read.
Tensor resizedAlong(OnnxNode& n, Tensor x, const ResizeAtRun& r, size_t i, const AxisAtRun& a, Tensor& outside) {
  const ResizeRule& rule = r.rule;
  Tensor at = sourceAtRun(rule, a, cast(n.b.iota(a.out), DType::F64)), last = a.in - 1.0;
  if (rule.coordinates == "tf_crop_and_resize") {
    Tensor here = along(either(lt(at, 0.0), gt(at, last)), x.rank(), a.axis);
    outside = outside ? either(outside, here) : here;
  }
  auto inside = [&](Tensor position) { return cast(max(min(position, last), 0.0), DType::I64); };
  if (rule.mode == "nearest") return take(x, a.axis, inside(roundedPosition(rule.rounding, at)));
  const Dim reach = reachOf(n, r, i, a);
  Tensor tap = cast(n.b.iota(reach * 2), DType::F64) - cast(n.b.value(reach - 1), DType::F64);
  at = unsqueeze(at, 1);
  Tensor position = floor(at) + tap;  // [out, taps]
  Tensor weight = weightOf(rule, (position - at) * (rule.antialias ? min(a.scale, 1.0) : n.b.literal(1.0)));
  if (rule.excludeOutside) weight = where(both(ge(position, 0.0), le(position, last)), weight, 0.0);
  if (rule.antialias || rule.excludeOutside) {
    Tensor total = sum(weight, 1, true);
    weight = where(eq(total, 0.0), weight, weight / total);
  }
  if (!weight || !position) return {};
  weight = contiguous(cast(weight, x.dtype()));
  for (int i = a.axis + 1; i < x.rank(); ++i) weight = unsqueeze(weight, -1);
  return reduce(Op::Add, take(x, a.axis, contiguous(inside(position))) * weight, {{a.axis + 1}}, false);
}

}  // namespace

bool stretches(OnnxNode& n) {
  const std::string policy = n.word("keep_aspect_ratio_policy");
  return policy.empty() || policy == "stretch";
}

Tensor resizedAtRun(OnnxNode& n, const ResizeAtRun& r) {
  Tensor x = n.arg(0), outside;
  DType dtype = x.dtype();
  std::vector<AxisAtRun> axes = axesOf(n, r);
  if (n.b.failed()) return {};
  if (!r.isKnown) expectSizes(n, r, axes);
  if (r.rule.mode != "nearest") x = cast(x, computeDType(x));
  for (size_t i = 0; i < axes.size() && x; ++i) x = resizedAlong(n, x, r, i, axes[i], outside);
  if (outside) x = where(outside, r.extrapolation, x);
  return cast(x, dtype);
}

}  // namespace svod
