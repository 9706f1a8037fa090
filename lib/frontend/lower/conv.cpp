// Convolutions: windows of the input times the kernel, summed over channels and taps. Window positions are
// affine functions of the loop counters, so nothing is copied; only what the phases of a strided transposed convolution
// compute is kept, and interleaved where it is used.
#include <algorithm>

#include "frontend/lower/common.h"

namespace svod {

namespace {

struct ConvShape {
  int spatial = 0;  // number of spatial axes
  int64_t groups = 1;
  Dim perGroup;     // input channels of a group
  Dim outPerGroup;  // output channels of a group
};

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

// Windows [n, g, c/g, out.., taps..] times weights [1, g, m/g, c/g, 1.., taps..], summed, plus bias.
Tensor convolve(OpCall& call, Tensor windows, Tensor weights, const ConvShape& shape) {
  if (!windows || !weights) return {};
  DType wide = sumDType(commonDType(call.operands));
  std::vector<int> folded{3};
  for (int i = 0; i < shape.spatial; ++i) folded.push_back(4 + shape.spatial + i);
  return withBias(call, reduce(Op::Add, cast(unsqueeze(windows, 2), wide) * cast(weights, wide), folded, false), shape);
}

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
  Tensor windows = unfold(splitChannels(call, x, shape), 3, axes);
  Dims weightDims{call.b.dim(1), call.b.dim(shape.groups), shape.outPerGroup, shape.perGroup};
  for (int i = 0; i < shape.spatial; ++i) weightDims.add(call.b.dim(1));
  return convolve(call, windows, reshape(w, weightDims + taps), shape);
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

// Along an axis of stride s, element o of the result sums over the taps (o + before) % s + s * u, each of which meets x
// at (o + before) / s - u: elements s apart, a phase, are a convolution of stride 1, and no tap meets the zeros in
// between. One kernel computes neighbouring phases of equally many taps that begin at the same place of x.
struct Phases {
  int64_t first, count;  // the first taps: one of each phase
  int64_t taps;
  int64_t ahead;  // elements of x that the first window has passed
};

struct PhaseAxis : WindowAxis {
  int64_t lead = 0;  // elements that are computed in front of the result
  std::vector<Phases> phases;

  explicit PhaseAxis(const WindowAxis& a) : WindowAxis(a) {
    const int64_t whole = before.constant() / stride * stride;
    phases = phasesFrom(before.constant());
    std::vector<Phases> aligned = phasesFrom(whole);
    if (aligned.size() == phases.size()) return;  // fewer kernels with more results each are worth the lead
    lead = before.constant() - whole, phases = std::move(aligned);
  }

  Dim blocks() const { return floordiv(count + (lead + stride - 1), stride); }

 private:
  // The phases of elements from one that lies `skipped` after the first that any tap reaches.
  std::vector<Phases> phasesFrom(int64_t skipped) const {
    const int64_t longer = kernel.constant() % stride, taps = kernel.constant() / stride;
    std::vector<Phases> groups;
    for (int64_t q = 0; q < stride; q += groups.back().count) {
      const int64_t first = (q + skipped) % stride, end = first < longer ? longer : stride;
      groups.push_back({first, std::min(end - first, stride - q), taps + (first < longer), (q + skipped) / stride});
    }
    return groups;
  }
};

class PhaseConvolution {
 public:
  /// x [n, g, c/g, sizes..], w [c, m/g, taps..]
  PhaseConvolution(OpCall& call, Tensor x, const ConvShape& shape, const std::vector<WindowAxis>& axes)
      : b_(call.b), x_(x), w_(call.arg(1)), wide_(sumDType(commonDType(call.operands))), shape_(shape),
        axes_(axes.begin(), axes.end()) {}

  static bool fits(const std::vector<WindowAxis>& axes) {
    auto isPlain = [](const WindowAxis& a) { return (a.dilation == 1 || a.stride == 1) && a.kernel.isConst(); };
    return std::ranges::all_of(axes, isPlain) &&
           std::ranges::any_of(axes, [](const WindowAxis& a) { return a.stride > 1; });
  }

  /// [n, g, m/g, results..]
  Tensor sums() {
    Tensor all = assembled({});  // [n, g, phases.., m/g, blocks..]
    if (!all) return {};
    const int spatial = shape_.spatial;
    std::vector<int> order{0, 1, 2 + spatial};
    Dims whole{all.dim(0), all.dim(1), shape_.outPerGroup}, offsets{b_.dim(0), b_.dim(0), b_.dim(0)}, sizes = whole;
    for (int i = 0; i < spatial; ++i) {
      const PhaseAxis& a = axes_[static_cast<size_t>(i)];
      order.push_back(3 + spatial + i), order.push_back(2 + i);
      whole.add(a.blocks() * a.stride), offsets.add(b_.dim(a.lead)), sizes.add(a.count);
    }
    return shrink(reshape(permute(all, order), whole), offsets, sizes);
  }

 private:
  // All phases of the axes that are not chosen yet.
  Tensor assembled(std::vector<Phases> chosen) {
    const size_t axis = chosen.size();
    if (axis == axes_.size()) return convolved(chosen);
    const int at = 2 + static_cast<int>(axis);
    std::vector<Tensor> parts;
    int64_t zeros = 0;  // phases before the first part that no tap reaches
    for (const Phases& p : axes_[axis].phases) {
      if (p.taps == 0 && parts.empty()) zeros += p.count;
      if (p.taps == 0 && !parts.empty()) parts.back() = padAlong(parts.back(), at, 0, p.count);
      if (p.taps == 0) continue;
      chosen.push_back(p);
      parts.push_back(padAlong(assembled(chosen), at, zeros, 0));
      chosen.pop_back(), zeros = 0;
      if (!parts.back()) return {};
    }
    return joined(parts, at);
  }

  Tensor padAlong(Tensor x, int axis, int64_t before, int64_t after) {
    if (!x || (before == 0 && after == 0)) return x;
    const Dims none(std::vector<Dim>(static_cast<size_t>(x.rank()), b_.dim(0)));
    Dims front = none, back = none;
    front.set(axis, b_.dim(before)), back.set(axis, b_.dim(after));
    return pad(x, front, back, 0);
  }

  Tensor convolved(const std::vector<Phases>& chosen) {
    std::vector<WindowAxis> windows;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const PhaseAxis& a = axes_[i];
      const int64_t before = (chosen[i].taps - 1) * a.dilation - chosen[i].ahead;
      windows.push_back({a.size, b_.dim(chosen[i].taps), b_.dim(before), b_.dim(0), a.blocks(), 1, a.dilation});
    }
    Tensor under = unfold(x_, 3, windows);
    for (int i = 0; i <= shape_.spatial; ++i) under = unsqueeze(under, 2);
    std::vector<int> folded{3 + shape_.spatial};
    for (int i = 0; i < shape_.spatial; ++i) folded.push_back(4 + 2 * shape_.spatial + i);
    return contiguous(reduce(Op::Add, cast(under, wide_) * cast(weights(chosen), wide_), folded, false));
  }

  // [1, g, phases.., m/g, c/g, 1.., taps..], the last tap first.
  Tensor weights(const std::vector<Phases>& chosen) {
    const int spatial = shape_.spatial;
    Dims split{b_.dim(1), b_.dim(shape_.groups), shape_.perGroup, shape_.outPerGroup};
    Dims none(std::vector<Dim>(static_cast<size_t>(w_.rank()), b_.dim(0))), missing = none;
    for (int i = 0; i < spatial; ++i) {
      const PhaseAxis& a = axes_[static_cast<size_t>(i)];
      const int64_t most = (a.kernel.constant() + a.stride - 1) / a.stride;
      missing.set(2 + i, b_.dim(most * a.stride) - a.kernel);
      split.add(b_.dim(most)), split.add(b_.dim(a.stride));
    }
    Tensor w = reshape(pad(w_, none, missing, 0), split);
    std::vector<int> order{0, 1}, taps;
    for (int i = 0; i < spatial; ++i) {
      const Phases& p = chosen[static_cast<size_t>(i)];
      w = narrow(narrow(w, 4 + 2 * i, b_.dim(0), b_.dim(p.taps)), 5 + 2 * i, b_.dim(p.first), b_.dim(p.count));
      order.push_back(5 + 2 * i), taps.push_back(4 + 2 * i);
    }
    w = flip(w, taps);
    order.push_back(3), order.push_back(2);
    order.insert(order.end(), taps.begin(), taps.end());
    w = permute(w, order);
    for (int i = 0; i < spatial; ++i) w = unsqueeze(w, 4 + spatial);
    return w;
  }

  GraphBuilder& b_;
  Tensor x_, w_;
  DType wide_;
  const ConvShape& shape_;
  std::vector<PhaseAxis> axes_;
};

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
  if (PhaseConvolution::fits(axes)) return withBias(call, PhaseConvolution(call, x, shape, axes).sums(), shape);
  Tensor windows = unfoldTransposed(x, axes);
  Dims split{call.b.dim(1), call.b.dim(shape.groups), shape.perGroup, shape.outPerGroup};
  for (int i = 0; i < shape.spatial; ++i) split.add(call.b.dim(1));
  std::vector<int> order{0, 1, 3, 2};
  for (int i = 4; i < 4 + 2 * shape.spatial; ++i) order.push_back(i);
  return convolve(call, windows, permute(reshape(w, split + taps), order), shape);
}

}  // namespace svod
