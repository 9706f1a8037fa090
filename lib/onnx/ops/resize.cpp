// Resizing: one axis after the other, each a weighted sum of elements read through a table.
#include <algorithm>
#include <cmath>

#include "frontend/lower/common.h"
#include "onnx/ops/common.h"
#include "onnx/ops/resize_at_run.h"
#include "onnx/ops/resize_taps.h"

namespace svod {

namespace {

// What a node asks for: `axes` are resized, by scales or to sizes.
struct Request {
  std::vector<int> axes;
  std::vector<double> scales;
  Dims sizes;
  Dims asked;                  // sizes that are made smaller or larger to keep the aspect, where they are symbolic
  std::vector<double> region;  // starts of the axes, then ends
  bool isAtRun = false;        // only a run knows some of these; then `sizes` are those of the result
};

bool isKnownRule(OnnxNode& n, const ResizeRule& rule) {
  struct Choice {
    std::string_view attribute, value, choices;
  };
  const Choice kChoices[] = {
      {"mode", rule.mode, " nearest linear cubic "},
      {"coordinate_transformation_mode", rule.coordinates,
       " half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_crop_and_resize "
       "tf_half_pixel_for_nn "},
      {"nearest_mode", rule.rounding, " round_prefer_floor round_prefer_ceil floor ceil "}};
  for (const Choice& c : kChoices)
    if (c.choices.find(" " + std::string(c.value) + " ") == std::string_view::npos)
      return n.require(false, "'" + std::string(c.attribute) + "' is one of" + std::string(c.choices));
  return true;
}

// Scale and size of an axis as numbers.
ResizeAxis axisOf(const Request& r, size_t i, Dim in) {
  ResizeAxis a;
  a.in = in.constant();
  if (r.scales.empty()) {
    a.out = r.sizes[static_cast<int>(i)].constant();
    a.length = static_cast<double>(a.out);
    a.scale = a.in == 0 ? 1 : a.length / static_cast<double>(a.in);
  } else {
    a.scale = r.scales[i];
    a.length = static_cast<double>(a.in) * a.scale;
    if (!r.sizes.rank())
      a.out = static_cast<int64_t>(std::floor(a.length));
    else
      a.out = r.sizes[static_cast<int>(i)].constant();
  }
  if (!r.region.empty()) a.start = r.region[i], a.end = r.region[i + r.axes.size()];
  return a;
}

constexpr int64_t kMostTaps = int64_t{1} << 26;  // entries of a table

// x along one axis through the taps. `outside` gathers where nothing may be read.
Tensor resizedAlong(OnnxNode& n, Tensor x, int axis, const ResizeTaps& taps, int64_t out, Tensor& outside) {
  if (!taps.isOutside.empty()) {
    Tensor here = along(constantOf(n, DType::Bool, {out}, taps.isOutside), x.rank(), axis);
    outside = outside ? either(outside, here) : here;
  }
  Tensor positions = constantOf(n, DType::I32, {out, taps.count}, taps.positions);
  if (taps.isSelection()) return take(x, axis, squeeze(positions, 1));
  Tensor weights = constantOf(n, x.dtype(), {out, taps.count}, taps.weights);
  for (int i = axis + 1; i < x.rank(); ++i) weights = unsqueeze(weights, -1);
  Tensor terms = take(x, axis, positions) * weights;
  return reduce(Op::Add, terms, {{axis + 1}}, false);
}

// The op of graph files has what needs no tables: sizes that are whole multiples, or symbolic.
std::optional<Tensor> asGraphOp(OnnxNode& n, Tensor x, const Request& r, const ResizeRule& rule) {
  bool isPlain = rule.mode == "nearest" || (rule.mode == "linear" && !rule.antialias && !rule.excludeOutside);
  bool hasRule = rule.coordinates == "half_pixel" || rule.coordinates == "asymmetric" ||
                 (rule.coordinates == "align_corners" && r.scales.empty());
  if (!isPlain || !hasRule || r.axes.empty() || r.asked.rank()) return std::nullopt;
  Dims sizes;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    Dim in = x.dim(r.axes[i]);
    double scale = r.scales.empty() ? 0 : r.scales[i];
    bool isWhole = scale >= 1 && scale == std::floor(scale) && scale < 65536;
    bool isFixed = in.isConst() && (r.scales.empty() ? r.sizes[static_cast<int>(i)].isConst() : true);
    if (r.scales.empty()) {
      if (isFixed && (in.is(0) || r.sizes[static_cast<int>(i)].constant() % in.constant() != 0)) return std::nullopt;
      sizes.add(r.sizes[static_cast<int>(i)]);
    } else if (!isWhole || r.sizes.rank()) {
      return std::nullopt;
    } else {
      sizes.add(in * static_cast<int64_t>(scale));
    }
  }
  std::string rounding = rule.rounding.starts_with("round_") ? rule.rounding.substr(6) : rule.rounding;
  return n.call("resize", {x},
                {{"size", sizes},
                 {"axes", listAttribute(r.axes)},
                 {"mode", rule.mode},
                 {"coordinates", rule.coordinates},
                 {"rounding", rounding}});
}

// floor(in * scale), exactly: a double is a whole number over a power of two. Nothing where these are too large.
Dim scaledSize(Dim in, double scale) {
  int64_t below = 1;
  while (below < (int64_t{1} << 40) && scale != std::floor(scale)) scale *= 2, below *= 2;
  if (scale != std::floor(scale) || !(scale * static_cast<double>(std::max<int64_t>(in.max(), 1)) < 1e18)) return Dim();
  return floordiv(in * static_cast<int64_t>(scale), below);
}

// What a run computes from the sizes that it has.
Tensor resizedSymbolic(OnnxNode& n, Tensor x, const Request& r, const ResizeRule& rule, double extrapolation) {
  ResizeAtRun request{r.axes, r.sizes, rule, extrapolation, true, r.scales, r.region, r.asked};
  for (size_t i = 0; i < r.axes.size() && r.sizes.rank() == 0; ++i)
    request.sizes.add(scaledSize(x.dim(r.axes[i]), r.scales[i]));
  for (const Dim& size : request.sizes)
    if (!size) return n.unsupported("this resize of symbolic axes of " + describe(x), "fix the sizes with --shape");
  return resizedAtRun(n, request);
}

Tensor resized(OnnxNode& n, Tensor x, Request r, const ResizeRule& rule, double extrapolation) {
  if (!isKnownRule(n, rule)) return {};
  if (r.isAtRun) return resizedAtRun(n, {r.axes, r.sizes, rule, extrapolation});
  if (std::optional<Tensor> y = asGraphOp(n, x, r, rule)) return *y ? cast(*y, x.dtype()) : Tensor();
  DType dtype = x.dtype();
  if (rule.mode != "nearest") x = cast(x, computeDType(x));
  Tensor outside;
  for (size_t i = 0; i < r.axes.size() && x; ++i) {
    Dim in = x.dim(r.axes[i]);
    if (!in.isConst() || r.asked.rank() || (r.sizes.rank() && !r.sizes[static_cast<int>(i)].isConst()))
      return resizedSymbolic(n, n.arg(0), r, rule, extrapolation);
    ResizeAxis a = axisOf(r, i, in);
    if (!n.require(a.out >= 0 && a.scale > 0 && (a.in > 0 || a.out == 0), "scales and sizes are positive")) return {};
    bool isSame =
        a.in == a.out && a.scale == 1 && a.start == 0 && a.end == 1 && rule.coordinates != "tf_half_pixel_for_nn";
    if (isSame) continue;
    double reach = rule.antialias && a.scale < 1 ? 4 / a.scale : 4;
    if (static_cast<double>(a.out) * reach > static_cast<double>(kMostTaps))
      return n.unsupported("a resize of " + std::to_string(a.in) + " to " + std::to_string(a.out) + " elements",
                           "fewer elements along one axis");
    x = resizedAlong(n, x, r.axes[i], resizeTaps(rule, a), a.out, outside);
  }
  if (outside) x = where(outside, extrapolation, x);
  return cast(x, dtype);
}

}  // namespace

Results onnxUpsample(OnnxNode& n) {
  Tensor x = n.arg(0);
  Request r;
  r.axes = axesFrom(0, x.rank());
  r.scales = n.has(1) ? n.numbers(1) : n.numbers("scales");
  if (n.has("height_scale")) r.scales = {1, 1, n.number("height_scale"), n.number("width_scale")};
  if (n.b.failed() || !n.require(static_cast<int>(r.scales.size()) == x.rank(), "there is a scale for every axis"))
    return Tensor();
  // Axes that stay are left alone, so that they may be symbolic.
  for (size_t i = r.scales.size(); i-- > 0;)
    if (r.scales[i] == 1)
      r.axes.erase(r.axes.begin() + static_cast<ptrdiff_t>(i)),
          r.scales.erase(r.scales.begin() + static_cast<ptrdiff_t>(i));
  std::string mode = n.word("mode");
  ResizeRule rule{mode == "bilinear" ? "linear" : mode, "asymmetric", "floor"};
  return resized(n, x, r, rule, 0);
}

namespace {

// One scale for all axes, from the sizes that must not be exceeded, or must be reached. Halves are rounded up.
bool keepAspect(OnnxNode& n, Tensor x, bool isLarger, Request& r) {
  const auto count = static_cast<int>(r.axes.size());
  auto in = [&](int i) { return x.dim(r.axes[static_cast<size_t>(i)]); };
  bool isFixed = true;
  double scale = 0;
  for (int i = 0; i < count; ++i) {
    if (!n.require(!in(i).is(0), "keep_aspect_ratio_policy has axes with elements")) return false;
    isFixed &= in(i).isConst() && r.sizes[i].isConst();
    if (!isFixed) continue;
    double s = static_cast<double>(r.sizes[i].constant()) / static_cast<double>(in(i).constant());
    scale = i == 0 ? s : isLarger ? std::max(scale, s) : std::min(scale, s);
  }
  Dims kept;
  for (int i = 0; i < count; ++i) {
    Dim best;
    for (int k = 0; k < count; ++k) {
      Dim from = larger(in(k), n.b.dim(1));
      Dim size = k == i ? r.sizes[i] : floordiv(r.sizes[k] * in(i) * 2 + from, from * 2);
      best = !best ? size : isLarger ? larger(best, size) : smaller(best, size);
    }
    kept.add(best);
  }
  if (isFixed) r.scales.assign(r.axes.size(), scale);
  if (!isFixed) r.asked = r.sizes;
  r.sizes = kept;
  return true;
}

// The sizes of the result, where operands are known in a run only. False when nothing tells them.
bool sizesAtRun(OnnxNode& n, Tensor x, bool areKnown, Request& r) {
  std::optional<Dims> declared = n.declared(0);
  if (areKnown && stretches(n)) {
    r.sizes = n.sizes(3);
  } else if (declared && declared->rank() == x.rank()) {
    for (int axis : r.axes) r.sizes.add((*declared)[axis]);
  } else {
    return false;
  }
  return true;
}

// The scales or sizes operand; nothing after an error.
bool readRequest(OnnxNode& n, Tensor x, Request& r) {
  auto isGiven = [&](int i) { return n.has(i) && !n.arg(i).dim(0).is(0); };
  for (int i = 1; i < 4; ++i)
    if (n.has(i) && !n.require(n.arg(i).rank() == 1, "roi, scales and sizes are vectors")) return false;
  r.axes = n.has("axes") ? n.axes(n.integers("axes"), x.rank()) : axesFrom(0, x.rank());
  if (n.b.failed() || !n.require(isGiven(2) != isGiven(3), "either scales or sizes are given")) return false;
  bool isCrop = n.word("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (isCrop && !n.require(isGiven(1), "tf_crop_and_resize has a roi")) return false;
  const auto count = static_cast<int64_t>(r.axes.size());
  if (!n.require(n.arg(isGiven(2) ? 2 : 3).dim(0).is(count),
                 "there is a scale or size for every axis that is resized") ||
      !n.require(!isCrop || n.arg(1).dim(0).is(2 * count), "roi has a start and an end per axis"))
    return false;
  bool isKnown = n.isKnown(isGiven(2) ? 2 : 3), isRegionKnown = !isCrop || n.isKnown(1);
  if (!isKnown || !isRegionKnown) r.isAtRun = sizesAtRun(n, x, isGiven(3) && isKnown, r);
  if (r.isAtRun) return !n.b.failed();
  if (isGiven(2)) r.scales = n.numbers(2);
  if (isGiven(3) && !n.b.failed()) r.sizes = n.sizesOrLengths(3);
  if (isCrop && !n.b.failed()) r.region = n.numbers(1);
  return !n.b.failed();
}

// Leaves out axes that keep their size: they may be symbolic, and need no work.
void dropUnchanged(Tensor x, Request& r) {
  if (r.isAtRun || r.asked.rank()) return;
  Request kept;
  std::vector<double> ends;
  for (size_t i = 0; i < r.axes.size(); ++i) {
    bool hasSizes = r.sizes.rank() > 0, hasScales = !r.scales.empty(), hasRegion = !r.region.empty();
    bool stays = hasScales ? r.scales[i] == 1 : r.sizes[static_cast<int>(i)] == x.dim(r.axes[i]);
    if (hasRegion) stays &= r.region[i] == 0 && r.region[i + r.axes.size()] == 1;
    if (stays) continue;
    kept.axes.push_back(r.axes[i]);
    if (hasScales) kept.scales.push_back(r.scales[i]);
    if (hasSizes) kept.sizes.add(r.sizes[static_cast<int>(i)]);
    if (hasRegion) kept.region.push_back(r.region[i]), ends.push_back(r.region[i + r.axes.size()]);
  }
  kept.region.insert(kept.region.end(), ends.begin(), ends.end());
  r = kept;
}

}  // namespace

Results onnxResize(OnnxNode& n) {
  Tensor x = n.arg(0);
  Request r;
  if (!readRequest(n, x, r)) return Tensor();
  ResizeRule rule{n.word("mode"),         n.word("coordinate_transformation_mode"),
                  n.word("nearest_mode"), n.number("cubic_coeff_a"),
                  n.flag("antialias"),    n.flag("exclude_outside")};
  std::string policy = n.word("keep_aspect_ratio_policy");
  if (!policy.empty() && policy != "stretch" && r.scales.empty() && !r.isAtRun) {
    if (!n.require(policy == "not_larger" || policy == "not_smaller",
                   "'keep_aspect_ratio_policy' is stretch, not_larger or not_smaller") ||
        !keepAspect(n, x, policy == "not_smaller", r))
      return Tensor();
  }
  dropUnchanged(x, r);
  if (r.axes.empty()) return x;
  return resized(n, x, r, rule, n.number("extrapolation_value"));
}

}  // namespace svod
