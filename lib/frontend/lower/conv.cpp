// Convolutions: windows of the input times the kernel, summed over channels and taps. Window positions are
// affine functions of the loop counters, so nothing is copied.
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
  std::string ranks = "x is [n, channels, " + std::to_string(spatial) + " sizes] and w has " +
                      std::to_string(spatial + 2) + " dims";
  return call.require(call.arg(0).rank() == spatial + 2 && call.arg(1).rank() == spatial + 2, ranks);
}

bool checkBias(OpCall& call, Dim channels) {
  if (call.count() < 3) return true;
  return call.require(call.arg(2).rank() == 1 && call.arg(2).dim(0) == channels,
                      "the bias must be [" + describe(channels) + "]");
}

// Windows [n, g, c/g, out.., taps..] times weights [1, g, m/g, c/g, 1.., taps..], summed, plus bias.
Tensor convolve(OpCall& call, Tensor windows, Tensor weights, const ConvShape& shape) {
  if (!windows || !weights) return {};
  DType result = commonDType(call.operands), wide = sumDType(result);
  std::vector<int> folded{3};
  for (int i = 0; i < shape.spatial; ++i) folded.push_back(4 + shape.spatial + i);
  Tensor sums = reduce(Op::Add, cast(unsqueeze(windows, 2), wide) * cast(weights, wide), folded, false);
  if (!sums) return {};
  Dim channels = shape.outPerGroup * shape.groups;
  Tensor joined = reshape(sums, Dims{sums.dim(0), channels} + sums.dims().slice(3, sums.rank()));
  if (call.count() > 2) {
    Dims biasDims{channels};
    for (int i = 0; i < shape.spatial; ++i) biasDims.add(call.b.dim(1));
    joined = joined + cast(reshape(call.arg(2), biasDims), wide);
  }
  return cast(joined, result);
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
  return call.require(shape.perGroup * shape.groups == inChannels,
                      "the channels of x must divide into " + std::to_string(shape.groups) + " groups");
}

}  // namespace

Results lowerConv(OpCall& call) {
  Tensor x = call.arg(0), w = call.arg(1);
  ConvShape shape;
  shape.spatial = spatialAxes(call);
  if (!checkRanks(call, shape.spatial) || !checkGroups(call, shape, x.dim(1))) return Tensor();
  shape.outPerGroup = floordiv(w.dim(0), shape.groups);
  if (!call.require(
          w.dim(1) == shape.perGroup && shape.outPerGroup * shape.groups == w.dim(0),
          "w must be [out channels, channels / groups, taps..] with groups dividing the out channels") ||
      !checkBias(call, w.dim(0)))
    return Tensor();
  Dims taps = w.dims().slice(2, w.rank());
  std::vector<WindowAxis> axes = windowAxes(call, x, 2, taps, false);
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
    indices.push_back(meetingPositions(positionsAlong(b, result, 3 + i),
                                       positionsAlong(b, result, 3 + count + i), axes[i]));
  return gather(x, indices);
}

}  // namespace

Results lowerConvTranspose(OpCall& call) {
  Tensor x = call.arg(0), w = call.arg(1);
  ConvShape shape;
  shape.spatial = spatialAxes(call);
  if (!checkRanks(call, shape.spatial) || !checkGroups(call, shape, x.dim(1))) return Tensor();
  shape.outPerGroup = w.dim(1);
  if (!call.require(w.dim(0) == x.dim(1), "w must be [channels, out channels / groups, taps..]") ||
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
  Tensor windows = unfoldTransposed(splitChannels(call, x, shape), axes);
  Dims split{call.b.dim(1), call.b.dim(shape.groups), shape.perGroup, shape.outPerGroup};
  for (int i = 0; i < shape.spatial; ++i) split.add(call.b.dim(1));
  std::vector<int> order{0, 1, 3, 2};
  for (int i = 4; i < 4 + 2 * shape.spatial; ++i) order.push_back(i);
  return convolve(call, windows, permute(reshape(w, split + taps), order), shape);
}

}  // namespace svod
