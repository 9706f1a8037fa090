// Convolutions: windows of the input times the kernel, summed over channels and taps. Window positions are
// affine functions of the loop counters, so nothing is copied.
#include <algorithm>

#include "frontend/lower/common.h"
#include "frontend/lower/conv_phases.h"
#include "frontend/lower/conv_taps.h"

namespace svod {

namespace {

// The digit in the op's name: conv2d has two spatial axes.
int spatialAxes(const OpCall& call) { return call.op.name[call.op.name.size() - 2] - '0'; }

bool checkRanks(OpCall& call, int spatial) {
  std::string ranks =
      "x is [n, channels, " + std::to_string(spatial) + " sizes] and w has " + std::to_string(spatial + 2) + " dims";
  return call.require(call.arg(0).rank() == spatial + 2 && call.arg(1).rank() == spatial + 2, ranks);
}

bool checkBias(OpCall& call, Dim channels) {
  if (call.count() < 3) return true;
  return call.require(call.arg(2).rank() == 1 && call.b.agree(call.arg(2).dim(0), channels),
                      "the bias must be [" + describe(channels) + "]");
}

// The result of sums [n, g, m/g, out..]: with the bias, in the dtype of the operands.
Tensor withBias(OpCall& call, Tensor sums, const ConvShape& shape) {
  if (!sums) return {};
  DType result = commonDType(call.operands), wide = sumDType(result);
  Dim channels = shape.outPerGroup * shape.groups;
  Tensor whole = reshape(sums, Dims{sums.dim(0), channels} + sums.dims().slice(3, sums.rank()));
  if (call.count() > 2) {
    Dims biasDims{channels};
    for (int i = 0; i < shape.spatial; ++i) biasDims.add(call.b.dim(1));
    whole = whole + cast(reshape(call.arg(2), biasDims), wide);
  }
  return cast(whole, result);
}

// Windows [n, g, c/g, out.., taps..] times weights [1, g, m/g, c/g, 1.., taps..], summed: [n, g, m/g, out..].
Tensor productSums(OpCall& call, Tensor windows, Tensor weights, int spatial) {
  if (!windows || !weights) return {};
  DType wide = sumDType(commonDType(call.operands));
  std::vector<int> folded{3};
  for (int i = 0; i < spatial; ++i) folded.push_back(4 + spatial + i);
  return reduce(Op::Add, cast(unsqueeze(windows, 2), wide) * cast(weights, wide), folded, false);
}

constexpr int64_t kWorthTaps = 32;  // channels whose products take longer than reading and writing a result does

// The sums over x [n, g, c/g, sizes..]. Ranges of results that need few of the taps are sums of their own, or taps are.
class TapParts {
 public:
  TapParts(OpCall& call, Tensor x, Tensor weights, std::span<const WindowAxis> axes)
      : call_(call), x_(x), weights_(weights), axes_(axes) {
    for (const WindowAxis& a : axes) ranges_.push_back(tapRanges(a));
  }

  Tensor sums() { return isWorthTaps() ? sumOfTaps({}) : assembled({}); }

 private:
  bool isInParts() const {
    return std::ranges::any_of(ranges_, [](const auto& ranges) { return ranges.size() > 1; });
  }

  /// Whether each tap is a matrix product of its own: then parts are as large as can be, and no weight is read twice.
  bool isWorthTaps() const {
    const Dim channels = x_.dim(2);
    const auto isReached = [](const WindowAxis& a) { return isFixed(a) && !reachedTaps(a).empty(); };
    return isInParts() && channels.isConst() && channels.constant() >= kWorthTaps &&
           std::ranges::all_of(axes_, isReached);
  }

  // The sum over the taps of all axes from that of the next choice on, of all results.
  Tensor sumOfTaps(std::vector<TapRange> chosen) {
    const size_t axis = chosen.size();
    if (axis == axes_.size()) return sumsOf(chosen);
    Tensor all;
    for (const TapRange& tap : reachedTaps(axes_[axis])) {
      chosen.push_back(tap);
      const Tensor part = sumOfTaps(chosen);
      chosen.pop_back();
      if (!part) return {};
      const int64_t behind = axes_[axis].count.constant() - tap.first - tap.count;
      const Tensor padded = padAlong(part, 3 + static_cast<int>(axis), tap.first, behind);
      all = all ? all + padded : padded;
    }
    return all;
  }

  Tensor assembled(std::vector<TapRange> chosen) {
    const size_t axis = chosen.size();
    if (axis == axes_.size()) return sumsOf(chosen);
    std::vector<Tensor> parts;
    for (const TapRange& range : ranges_[axis]) {
      chosen.push_back(range);
      parts.push_back(assembled(chosen));
      chosen.pop_back();
      if (!parts.back()) return {};
    }
    return joined(parts, 3 + static_cast<int>(axis));
  }

  Tensor sumsOf(std::span<const TapRange> chosen) {
    const int spatial = static_cast<int>(axes_.size());
    std::vector<WindowAxis> windows;
    Tensor weights = weights_;
    for (int i = 0; i < spatial; ++i) {
      const auto at = static_cast<size_t>(i);
      windows.push_back(windowsOf(call_.b, axes_[at], chosen[at]));
      if (windows.back().kernel != axes_[at].kernel)
        weights = narrow(weights, 4 + spatial + i, call_.b.dim(chosen[at].firstTap), call_.b.dim(chosen[at].tapCount));
    }
    Tensor sums = productSums(call_, unfold(x_, 3, windows), weights, spatial);
    return isInParts() ? contiguous(sums) : sums;
  }

  OpCall& call_;
  Tensor x_, weights_;
  std::span<const WindowAxis> axes_;
  std::vector<std::vector<TapRange>> ranges_;  // by axis
};

Tensor splitChannels(OpCall& call, Tensor x, const ConvShape& shape) {
  return reshape(x, Dims{x.dim(0), call.b.dim(shape.groups), shape.perGroup} + x.dims().slice(2, x.rank()));
}

bool checkGroups(OpCall& call, ConvShape& shape, Dim inChannels) {
  shape.groups = call.integer("groups");
  if (shape.groups < 1) {
    call.fail(Diag::BadAttribute, std::to_string(shape.groups) + " groups", "use 1 or more");
    return false;
  }
  shape.perGroup = floordiv(inChannels, shape.groups);
  return call.require(call.b.agree(shape.perGroup * shape.groups, inChannels),
                      "the channels of x must divide into " + std::to_string(shape.groups) + " groups");
}

/// Whether the channels that w wants are the last axis of x, as other programs have them: an error that says so.
bool isChannelsLast(OpCall& call, const ConvShape& shape) {
  const Tensor x = call.arg(0), w = call.arg(1);
  const Dim wanted = w.dim(1) * shape.groups, last = x.dim(x.rank() - 1);
  const auto isNumber = [](Dim a, Dim b) { return a.isConst() && b.isConst() && a.constant() == b.constant(); };
  if (isNumber(wanted, x.dim(1)) || !isNumber(wanted, last) || !x.dim(1).isConst()) return false;
  std::string order = "0, " + std::to_string(x.rank() - 1);
  for (size_t axis = 1; axis + 1 < static_cast<size_t>(x.rank()); ++axis) order += ", " + std::to_string(axis);
  call.fail(Diag::ShapeMismatch,
            "x has " + describe(x.dim(1)) + " channels, its axis 1, and w takes " + describe(wanted) + ", got " +
                describe(x) + ", " + describe(w),
            "where the channels of x are its last axis, give it as permute(x, order=[" + order + "])");
  return true;
}

}  // namespace

Results lowerConv(OpCall& call) {
  Tensor x = call.arg(0), w = call.arg(1);
  ConvShape shape;
  shape.spatial = spatialAxes(call);
  if (!checkRanks(call, shape.spatial) || !checkGroups(call, shape, x.dim(1))) return Tensor();
  shape.outPerGroup = floordiv(w.dim(0), shape.groups);
  if (isChannelsLast(call, shape)) return Tensor();
  if (!call.require(call.b.agree(w.dim(1), shape.perGroup) && call.b.agree(shape.outPerGroup * shape.groups, w.dim(0)),
                    "w must be [out channels, channels / groups, taps..] with groups dividing the out channels") ||
      !checkBias(call, w.dim(0)))
    return Tensor();
  Dims taps = w.dims().slice(2, w.rank());
  std::vector<WindowAxis> axes = windowAxes(call, x, 2, taps);
  if (axes.empty()) return Tensor();
  Dims weightDims{call.b.dim(1), call.b.dim(shape.groups), shape.outPerGroup, shape.perGroup};
  for (int i = 0; i < shape.spatial; ++i) weightDims.add(call.b.dim(1));
  TapParts parts(call, splitChannels(call, x, shape), reshape(w, weightDims + taps), axes);
  return withBias(call, parts.sums(), shape);
}

namespace {

Tensor unfoldTransposed(Tensor x, const std::vector<WindowAxis>& axes) {
  if (!x) return {};
  GraphBuilder& b = *x.builder();
  Dims result = x.dims().slice(0, 3);
  for (const WindowAxis& a : axes) result.add(a.count);
  for (const WindowAxis& a : axes) result.add(a.kernel);
  int count = static_cast<int>(axes.size());
  std::vector<Tensor> indices;
  for (int i = 0; i < 3; ++i) indices.push_back(positionsAlong(b, result, i));
  for (int i = 0; i < count; ++i)
    indices.push_back(
        meetingPositions(positionsAlong(b, result, 3 + i), positionsAlong(b, result, 3 + count + i), axes[i]));
  return gather(x, indices);
}

}  // namespace

Results lowerConvTranspose(OpCall& call) {
  Tensor x = call.arg(0), w = call.arg(1);
  ConvShape shape;
  shape.spatial = spatialAxes(call);
  if (!checkRanks(call, shape.spatial) || !checkGroups(call, shape, x.dim(1))) return Tensor();
  shape.outPerGroup = w.dim(1);
  if (!call.require(call.b.agree(w.dim(0), x.dim(1)), "w must be [channels, out channels / groups, taps..]") ||
      !checkBias(call, w.dim(1) * shape.groups))
    return Tensor();
  Dims taps = w.dims().slice(2, w.rank());
  std::vector<int64_t> extra = call.integers("output_padding");
  if (extra.size() == 1) extra.assign(static_cast<size_t>(shape.spatial), extra[0]);
  if (extra.size() != static_cast<size_t>(shape.spatial))
    return call.fail(Diag::BadAttribute, "'output_padding' has " + std::to_string(extra.size()) + " entries",
                     "give one number, or one per spatial axis");
  std::vector<WindowAxis> axes = windowAttributes(call, x, 2, taps);
  if (axes.empty()) return Tensor();
  for (size_t i = 0; i < axes.size(); ++i) {
    WindowAxis& a = axes[i];
    a.count = (a.size - 1) * a.stride - a.before - a.after + (a.kernel - 1) * a.dilation + (extra[i] + 1);
    if (!call.require(a.count.max() >= 0, "the padding takes away the whole result")) return Tensor();
  }
  x = splitChannels(call, x, shape);
  if (haveOwnPhases(axes)) return withBias(call, phaseSums(call, x, shape, axes), shape);
  Tensor windows = unfoldTransposed(x, axes);
  Dims split{call.b.dim(1), call.b.dim(shape.groups), shape.perGroup, shape.outPerGroup};
  for (int i = 0; i < shape.spatial; ++i) split.add(call.b.dim(1));
  std::vector<int> order{0, 1, 3, 2};
  for (int i = 4; i < 4 + 2 * shape.spatial; ++i) order.push_back(i);
  return withBias(call, productSums(call, windows, permute(reshape(w, split + taps), order), shape.spatial), shape);
}

}  // namespace svod
