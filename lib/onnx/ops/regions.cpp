// Regions of images: RoiAlign reads samples between elements, MaxRoiPool takes largest elements.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/lower/common.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr int64_t kMostLaidOut =
    64;  // samples of a bin along an axis; where there may be more, a loop takes one by one

/// Where the bins of regions have their samples along one axis.
struct RoiAxis {
  Tensor start, apart;    // where a bin begins, [rois, bins, 1], and from one sample to the next, [rois, 1, 1]
  Tensor total;           // samples per bin, a number or [rois, 1, 1]
  Tensor last;            // the last element of x
  Dim size;               // of x
  bool isCounted = true;  // all regions have `total` samples
};

RoiAxis roiAxis(OnnxNode& n, Tensor rois, int low, int high, int64_t bins, Dim size) {
  const double scale = n.number("spatial_scale");
  const bool isHalf = n.opset >= 16 && n.word("coordinate_transformation_mode") != "output_half_pixel";
  const DType wide = rois.dtype();
  auto edge = [&](int i) {
    Tensor e = narrow(rois, 1, n.b.dim(i), n.b.dim(1)) * scale;
    return unsqueeze(isHalf ? e - 0.5 : e, -1);  // [rois, 1, 1]
  };
  const Tensor start = edge(low);
  Tensor length = edge(high) - start;
  if (!isHalf) length = max(length, 1.0);
  const Tensor bin = length / static_cast<double>(bins);
  const int64_t ratio = n.integer("sampling_ratio");
  RoiAxis axis;
  axis.isCounted = ratio > 0;
  axis.total =
      axis.isCounted ? n.b.constant(Scalar::of(wide, static_cast<double>(ratio))) : elementwise(Op::Ceil, {bin});
  axis.start = start + unsqueeze(cast(n.b.iota(n.b.dim(bins)), wide), -1) * bin;
  axis.apart = bin / axis.total;
  axis.last = cast(n.b.value(size - 1), wide);
  axis.size = size;
  return axis;
}

/// Samples of all bins: positions [rois, bins, samples], and whether they lie in x. Regions with fewer samples than
/// others lack the last ones.
struct RoiSamples {
  Tensor at, isInside, exists;
};
RoiSamples samplesOf(const RoiAxis& axis, Tensor number) {
  RoiSamples samples;
  const Tensor at = axis.start + (number + 0.5) * axis.apart;
  samples.isInside = both(ge(at, -1.0), le(at, axis.last + 1.0));
  samples.exists = axis.isCounted ? at.builder()->literal(true) : lt(number, axis.total);
  samples.at = min(max(at, 0.0), axis.last);
  return samples;
}

// [rois, bins, samples] in the place of axes `at` and `at + 2` of [rois, channels, rows, columns, row
// samples, column samples].
Tensor placed(Tensor t, bool isRow) {
  if (!t || t.rank() != 3) return t;
  Dims d = t.dims();
  Dim one = t.builder()->dim(1);
  if (isRow) return reshape(t, {d[0], one, d[1], one, d[2], one});
  return reshape(t, {d[0], one, one, d[1], one, d[2]});
}

class RoiAlign {
 public:
  explicit RoiAlign(OnnxNode& n) : n_(n), x_(n.arg(0)), rois_(cast(n.arg(1), computeDType(n.arg(1)))) {}
  Results run();

 private:
  Tensor folded(const RoiSamples& down, const RoiSamples& right) const;
  Tensor laidOut(int64_t rows, int64_t columns) const;
  Tensor inPlan() const;
  int64_t mostSamples(int low, int high, int64_t bins) const;
  Tensor numbers(int64_t count) const { return cast(n_.b.iota(n_.b.dim(count)), rois_.dtype()); }
  bool isAverage() const { return n_.word("mode") == "avg"; }

  OnnxNode& n_;
  Tensor x_, rois_;
  RoiAxis down_, right_;
};

// The largest number of samples in a bin, for regions that are known; 0 where they are not, or where it is large.
int64_t RoiAlign::mostSamples(int low, int high, int64_t bins) const {
  if (n_.integer("sampling_ratio") > 0) return n_.integer("sampling_ratio");
  if (!n_.isKnown(1)) return 0;
  const std::vector<double> rois = n_.numbers(1);
  double most = 1;
  for (size_t i = 0; i + 3 < rois.size(); i += 4) {
    const double length = rois[i + static_cast<size_t>(high)] - rois[i + static_cast<size_t>(low)];
    most = std::max(most, std::ceil(length * n_.number("spatial_scale") / static_cast<double>(bins)));
  }
  return most <= kMostLaidOut ? static_cast<int64_t>(most) + 1 : 0;  // one more for rounding
}

// The sum of the samples of every bin, or the largest.
Tensor RoiAlign::folded(const RoiSamples& down, const RoiSamples& right) const {
  Tensor channel = n_.b.iota(x_.dim(1));
  for (int i = 0; i < 4; ++i) channel = unsqueeze(channel, -1);
  const std::vector<Tensor> lead{along(n_.arg(2), 6, 0), channel};
  const std::vector<Tap> taps = linearTaps(x_, lead, {placed(down.at, true), placed(right.at, false)});
  const Tensor isInside = both(placed(down.isInside, true), placed(right.isInside, false));
  const Tensor exists = both(placed(down.exists, true), placed(right.exists, false));
  if (isAverage()) return reduce(Op::Add, where(both(isInside, exists), sumOf(taps), 0.0), {{4, 5}}, false);
  // ONNX takes the largest weighted element, not the largest interpolated value.
  Tensor largest;
  for (const Tap& t : taps) {
    Tensor term = t.weight * cast(t.value, t.weight.dtype());
    largest = largest ? max(largest, term) : term;
  }
  return reduce(Op::Max, where(exists, where(isInside, largest, 0.0), kNone), {{4, 5}}, false);
}

Tensor RoiAlign::laidOut(int64_t rows, int64_t columns) const {
  return folded(samplesOf(down_, numbers(rows)), samplesOf(right_, numbers(columns)));
}

/// The samples of every bin that a loop looks at: from which one on, and how many at most. Of those before x and behind
/// it one is enough, and between them there is no room for many more than x has elements.
struct SampleRange {
  Tensor first, most;
};
SampleRange sampleRange(OnnxNode& n, const RoiAxis& axis) {
  const Tensor skipped = elementwise(Op::Ceil, {(-1.0 - axis.start) / axis.apart}) - 2.0;
  const Tensor first = where(gt(skipped, 0.0), skipped, 0.0);
  const Tensor room = cast(n.b.value(axis.size + 6), axis.start.dtype());
  const Tensor left = reduce(Op::Max, axis.total - first, {}, false);
  return {first, cast(where(gt(left, 0.0), min(left, room), 0.0), DType::I64)};
}

Tensor RoiAlign::inPlan() const {
  GraphBuilder& b = n_.b;
  const SampleRange rows = sampleRange(n_, down_), columns = sampleRange(n_, right_);
  const Tensor width = b.temporary(max(columns.most, 1)), count = b.temporary(rows.most * columns.most);
  const int64_t bins[] = {n_.integer("output_height"), n_.integer("output_width")};
  const Dims dims{rois_.dim(0), x_.dim(1), b.dim(bins[0]), b.dim(bins[1])};
  const Tensor total = b.temporary(b.full(dims, cast(b.literal(isAverage() ? 0.0 : kNone), rois_.dtype())));
  const Tensor done = b.temporary(number(n_, 0));
  if (b.failed()) return {};
  GraphBuilder::LoopOptions options;
  options.condition = [=] { return lt(done, count); };
  auto body = [&](Dim at) {
    const Tensor here = cast(b.value(at), DType::I64);
    auto counted = [&](Tensor place, Tensor first) { return cast(place, rois_.dtype()) + first; };
    const RoiSamples down = samplesOf(down_, counted(floordiv(here, width), rows.first));
    const RoiSamples right = samplesOf(right_, counted(floormod(here, width), columns.first));
    const Tensor part = folded(down, right);
    b.assign(total, isAverage() ? total + part : max(total, part));
    b.assign(done, done + 1);
  };
  b.loop("sample", (down_.size + 6) * (right_.size + 6), body, options);
  return b.failed() ? Tensor() : b.wrap(total.node());
}

Results RoiAlign::run() {
  const std::string mode = n_.word("mode");
  const int64_t height = n_.integer("output_height"), width = n_.integer("output_width");
  if (!n_.require(x_.rank() == 4 && rois_.rank() == 2 && rois_.dim(1).is(4) && n_.arg(2).rank() == 1,
                  "x is [n, channels, height, width], rois [count, 4] and batch_indices [count]") ||
      !n_.require(height > 0 && width > 0 && (mode == "avg" || mode == "max"), "'mode' is avg or max"))
    return Tensor();
  down_ = roiAxis(n_, rois_, 1, 3, height, x_.dim(2)), right_ = roiAxis(n_, rois_, 0, 2, width, x_.dim(3));
  const int64_t rows = mostSamples(1, 3, height), columns = mostSamples(0, 2, width);
  if (n_.b.failed()) return Tensor();
  const Tensor y = rows > 0 && columns > 0 ? laidOut(rows, columns) : inPlan();
  if (!y || !isAverage()) return y ? cast(where(eq(y, kNone), 0.0, y), x_.dtype()) : y;
  Tensor total = max(down_.total * right_.total, 1.0);
  if (total.rank() == 3) total = unsqueeze(total, -1);
  return cast(y / total, x_.dtype());
}

}  // namespace

Results onnxRoiAlign(OnnxNode& n) { return RoiAlign(n).run(); }

namespace {

/// Which elements of an axis belong to which bin, [rois, bins, size].
Tensor binMembers(OnnxNode& n, Tensor rois, int low, int64_t bins, Dim size) {
  auto rounded = [&](int i) {  // halves away from 0
    const Tensor at = cast(narrow(rois, 1, n.b.dim(i), n.b.dim(1)) * n.number("spatial_scale"), DType::F64);
    const Tensor up = floor(abs(at) + 0.5);
    return unsqueeze(cast(where(lt(at, 0.0), -up, up), DType::F32), -1);  // [rois, 1, 1]
  };
  const Tensor start = rounded(low), length = max(rounded(low + 2) - start + 1.0, 1.0);
  const Tensor bin = length / static_cast<double>(bins), at = unsqueeze(cast(n.b.iota(n.b.dim(bins)), DType::F32), -1);
  const Tensor from = floor(at * bin) + start, to = ceil((at + 1.0) * bin) + start;
  const Tensor place = cast(n.b.iota(size), DType::F32);
  return both(le(from, place), lt(place, to));
}

}  // namespace

// The largest element of every bin; bins without elements are 0. First down the rows, then along the columns.
Results onnxMaxRoiPool(OnnxNode& n) {
  const Tensor x = n.arg(0), rois = cast(n.arg(1), DType::F32);
  const std::vector<int64_t> pooled = n.integers("pooled_shape");
  if (!n.require(x.rank() == 4 && rois.rank() == 2 && rois.dim(1).is(5),
                 "x is [n, channels, height, width] and rois [count, 5]") ||
      !n.require(pooled.size() == 2 && pooled[0] > 0 && pooled[1] > 0, "'pooled_shape' is [height, width]"))
    return Tensor();
  const Tensor batch = cast(squeeze(narrow(rois, 1, n.b.dim(0), n.b.dim(1)), 1), DType::I64);
  const Tensor rows = binMembers(n, rois, 2, pooled[0], x.dim(2)),
               columns = binMembers(n, rois, 1, pooled[1], x.dim(3));
  if (!batch || !rows || !columns) return Tensor();
  auto hasMembers = [](Tensor members) { return reduce(Op::Max, members, {{2}}, false); };  // [rois, bins]
  const Tensor images = unsqueeze(take(x, 0, batch), 2);                                    // [rois, c, 1, h, w]
  const Tensor down =
      reduce(Op::Max, where(unsqueeze(unsqueeze(rows, 1), -1), images, kNone), {{3}}, false);  // [rois, c, rows, w]
  const Tensor y = reduce(Op::Max, where(unsqueeze(unsqueeze(columns, 1), 1), unsqueeze(contiguous(down), 3), kNone),
                          {{4}}, false);  // [rois, c, rows, columns]
  const Tensor hasBoth =
      both(unsqueeze(unsqueeze(hasMembers(rows), 1), -1), unsqueeze(unsqueeze(hasMembers(columns), 1), 1));
  return where(hasBoth, y, 0.0);
}

}  // namespace svod
