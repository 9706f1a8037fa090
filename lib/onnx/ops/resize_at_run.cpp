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

// Scales and lengths of all axes, as axisOf() and keepAspect() in resize.cpp find them.
std::vector<AxisAtRun> axesOf(OnnxNode& n, const ResizeAtRun& r) {
  std::vector<AxisAtRun> all;
  bool hasScales = r.isKnown ? !r.scales.empty() : isGiven(n, 2),
       hasRegion = r.rule.coordinates == "tf_crop_and_resize";
  std::string policy = n.word("keep_aspect_ratio_policy");
  Tensor common;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    AxisAtRun a;
    a.axis = r.axes[i], a.out = r.sizes[static_cast<int>(i)];
    a.in = cast(n.b.value(n.arg(0).dim(a.axis)), DType::F64);
    Tensor given = !r.isKnown  ? entryOf(n, hasScales ? 2 : 3, i)
                   : hasScales ? n.b.constant(Scalar::ofFloat(DType::F64, r.scales[i]))
                               : cast(n.b.value(a.out), DType::F64);
    a.scale = hasScales ? given : given / max(a.in, 1.0);
    a.length = hasScales ? a.in * a.scale : given;
    if (hasRegion) a.start = entryOf(n, 1, i), a.end = entryOf(n, 1, i + r.axes.size());
    common = !common ? a.scale : policy == "not_smaller" ? max(common, a.scale) : min(common, a.scale);
    all.push_back(a);
  }
  if (!r.isKnown && !hasScales && !policy.empty() && policy != "stretch")
    for (AxisAtRun& a : all) a.scale = common, a.length = a.in * common;
  return all;
}

// Lengths of the result are rounded down; those of keep_aspect_ratio_policy to the nearest number.
void expectSizes(OnnxNode& n, const ResizeAtRun& r, const std::vector<AxisAtRun>& axes) {
  bool hasScales = isGiven(n, 2);
  if (!hasScales && n.isKnown(3) && stretches(n)) return;
  std::vector<Tensor> sizes;
  for (const AxisAtRun& a : axes) {
    Tensor length = hasScales && a.start ? a.in * (a.end - a.start) * a.scale : a.length;
    sizes.push_back(cast(floor(hasScales ? length : length + 0.5), DType::I64));
  }
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

// How far the elements lie that one of the result is made of: the scale is at least out / in.
Dim reachOf(OnnxNode& n, const ResizeRule& rule, const AxisAtRun& a) {
  const Dim in = n.arg(0).dim(a.axis), reach = n.b.dim(rule.mode == "linear" ? 1 : 2);
  if (!rule.antialias || in.max() <= a.out.min()) return reach;
  const Dim out = larger(a.out, n.b.dim(1));
  return larger(floordiv(in * reach + out - 1, out), reach);
}

// x along one axis. `outside` gathers where nothing may be read.
Tensor resizedAlong(OnnxNode& n, Tensor x, const AxisAtRun& a, const ResizeAtRun& r, Tensor& outside) {
  const ResizeRule& rule = r.rule;
  Tensor at = sourceAtRun(rule, a, cast(n.b.iota(a.out), DType::F64)), last = a.in - 1.0;
  if (rule.coordinates == "tf_crop_and_resize") {
    Tensor here = along(either(lt(at, 0.0), gt(at, last)), x.rank(), a.axis);
    outside = outside ? either(outside, here) : here;
  }
  auto inside = [&](Tensor position) { return cast(max(min(position, last), 0.0), DType::I64); };
  if (rule.mode == "nearest") return take(x, a.axis, inside(roundedPosition(rule.rounding, at)));
  const Dim reach = reachOf(n, rule, a);
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
  for (const AxisAtRun& a : axes)
    if (x) x = resizedAlong(n, x, a, r, outside);
  if (outside) x = where(outside, r.extrapolation, x);
  return cast(x, dtype);
}

}  // namespace svod
