#include "onnx/ops/resize_taps.h"

#include <algorithm>
#include <cmath>

namespace svod {

namespace {

// Position in the input that element x of the result stands for.
double sourceOf(const ResizeRule& rule, const ResizeAxis& a, double x) {
  double in = static_cast<double>(a.in);
  const std::string& c = rule.coordinates;
  if (c == "align_corners") return a.length == 1 ? 0 : x * (in - 1) / (a.length - 1);
  if (c == "asymmetric") return x / a.scale;
  if (c == "pytorch_half_pixel" && a.length <= 1) return 0;
  if (c == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (c == "tf_crop_and_resize") {
    if (a.length <= 1) return 0.5 * (a.start + a.end) * (in - 1);
    return a.start * (in - 1) + x * (a.end - a.start) * (in - 1) / (a.length - 1);
  }
  double offset = 0;
  if (c == "half_pixel_symmetric") offset = in / 2 * (1 - static_cast<double>(a.out) / a.length);
  return offset + (x + 0.5) / a.scale - 0.5;
}

double rounded(const std::string& how, double x) {
  if (how == "floor") return std::floor(x);
  if (how == "ceil") return std::ceil(x);
  return how == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

}  // namespace

ResizeTaps resizeTaps(const ResizeRule& rule, const ResizeAxis& a) {
  ResizeTaps taps;
  double last = static_cast<double>(a.in - 1);
  bool isNearest = rule.mode == "nearest", isLinear = rule.mode == "linear";
  // Averaging over the distance of two elements of the result when there are fewer of them.
  double stretch = rule.antialias && !isNearest ? std::min(a.scale, 1.0) : 1;
  int64_t reach = isNearest ? 0 : static_cast<int64_t>(std::ceil((isLinear ? 1 : 2) / stretch));
  taps.count = isNearest ? 1 : 2 * reach;
  bool canLeave = rule.coordinates == "tf_crop_and_resize";
  for (int64_t o = 0; o < a.out; ++o) {
    double at = sourceOf(rule, a, static_cast<double>(o)), total = 0;
    if (canLeave) taps.isOutside.push_back(at < 0 || at > last);
    double first = isNearest ? rounded(rule.rounding, at) : std::floor(at) - static_cast<double>(reach - 1);
    for (int64_t t = 0; t < taps.count; ++t) {
      double p = first + static_cast<double>(t), x = (p - at) * stretch;
      double weight = isNearest ? 1 : isLinear ? triangle(x) : cubic(x, rule.cubicA);
      if (rule.excludeOutside && !isNearest && (p < 0 || p > last)) weight = 0;
      taps.positions.push_back(std::clamp(p, 0.0, std::max(last, 0.0)));
      taps.weights.push_back(weight);
      total += weight;
    }
    bool isUnbalanced = (rule.antialias || rule.excludeOutside) && total != 0;
    for (int64_t t = 0; t < taps.count && isUnbalanced; ++t)
      taps.weights[taps.weights.size() - 1 - static_cast<size_t>(t)] /= total;
  }
  return taps;
}

}  // namespace svod
