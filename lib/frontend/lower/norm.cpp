// Normalizations, computed in at least f32.
#include "frontend/lower/common.h"

namespace svod {

namespace {

// (x - mean) / sqrt(var + eps) over axes.
Tensor standardized(Tensor x, const std::vector<int>& axes, double eps) {
  Tensor distance = x - meanOf(x, axes);
  return distance * recip(sqrt(meanOf(distance * distance, axes) + eps));
}

// y * scale + bias with operands `at` and `at + 1`, where given, reshaped by `shape`.
Tensor scaled(OpCall& call, Tensor y, size_t at, Tensor (*shape)(Tensor parameter, const Tensor& y)) {
  if (call.count() > at) y = y * cast(shape(call.arg(at), y), y.dtype());
  if (call.count() > at + 1) y = y + cast(shape(call.arg(at + 1), y), y.dtype());
  return y;
}

Tensor asIs(Tensor parameter, const Tensor&) { return parameter; }

// [channels] against [n, channels, ..].
Tensor perChannel(Tensor parameter, const Tensor& y) {
  for (int i = 2; i < y.rank(); ++i) parameter = unsqueeze(parameter, -1);
  return parameter;
}

bool checkChannels(OpCall& call, size_t first, Dim channels) {
  for (size_t i = first; i < call.count(); ++i)
    if (!call.require(call.arg(i).rank() == 1 && call.b.agree(call.arg(i).dim(0), channels),
                      "operands after x must be [" + describe(channels) + "]"))
      return false;
  return true;
}

// The axes from `axis` on.
std::vector<int> trailingAxes(OpCall& call) {
  std::vector<int> axes;
  int first = call.b.axis(call.arg(0), call.integer("axis"));
  for (int i = first; first >= 0 && i < call.arg(0).rank(); ++i) axes.push_back(i);
  return axes;
}

// Parameters of layer norms have the shape of the normalized axes.
bool checkTrailing(OpCall& call, const std::vector<int>& axes) {
  Dims tail = call.arg(0).dims().slice(axes.empty() ? 0 : axes[0], call.arg(0).rank());
  for (size_t i = 1; i < call.count(); ++i) {
    bool fits = call.arg(i).rank() == tail.rank();
    for (int k = 0; fits && k < tail.rank(); ++k) fits = call.b.agree(call.arg(i).dim(k), tail[k]);
    if (!call.require(fits, "operands after x must have the shape " + describe(tail))) return false;
  }
  return !axes.empty();
}

}  // namespace

Results lowerSoftmax(OpCall& call) {
  int axis = call.b.axis(call.arg(0), call.integer("axis"));
  return axis < 0 ? Tensor() : narrowed(call, softmaxOf(wideArg(call), axis));
}

Results lowerLogSoftmax(OpCall& call) {
  int axis = call.b.axis(call.arg(0), call.integer("axis"));
  if (axis < 0) return Tensor();
  Tensor x = wideArg(call), shiftedDown = x - maximum(x, axis, true);
  return narrowed(call, shiftedDown - log(sum(exp(shiftedDown), axis, true)));
}

Results lowerLayerNorm(OpCall& call) {
  std::vector<int> axes = trailingAxes(call);
  if (!checkTrailing(call, axes)) return Tensor();
  return narrowed(call, scaled(call, standardized(wideArg(call), axes, call.number("eps")), 1, asIs));
}

Results lowerRmsNorm(OpCall& call) {
  std::vector<int> axes = trailingAxes(call);
  if (!checkTrailing(call, axes)) return Tensor();
  Tensor x = wideArg(call);
  return narrowed(call, scaled(call, x * recip(sqrt(meanOf(x * x, axes) + call.number("eps"))), 1, asIs));
}

// Groups of channels as one row each: [n, groups, rest].
Results lowerGroupNorm(OpCall& call) {
  Tensor x = wideArg(call);
  if (!call.require(x.rank() >= 2, "x is [n, channels, ..]")) return Tensor();
  Dim channels = x.dim(1), groups = call.has("groups") ? call.dim("groups") : channels;
  if (groups.min() < 1) return call.fail(Diag::BadAttribute, describe(groups) + " groups", "use 1 or more");
  if (!call.require(floordiv(channels, groups) * groups == channels, "the channels must divide into the groups") ||
      !checkChannels(call, 1, channels))
    return Tensor();
  Dim rest = floordiv(channels, groups);
  for (int i = 2; i < x.rank(); ++i) rest = rest * x.dim(i);
  Tensor rows = standardized(reshape(x, {x.dim(0), groups, rest}), {2}, call.number("eps"));
  return narrowed(call, scaled(call, reshape(rows, x.dims()), 1, perChannel));
}

Results lowerBatchNorm(OpCall& call) {
  Tensor x = wideArg(call);
  int axis = call.b.axis(x, call.integer("axis"));
  if (axis < 0 || !checkChannels(call, 1, x.dim(axis))) return Tensor();
  auto channel = [&](size_t operand) {
    Tensor parameter = cast(call.arg(operand), x.dtype());
    for (int i = axis + 1; i < x.rank(); ++i) parameter = unsqueeze(parameter, -1);
    return parameter;
  };
  Tensor factor = channel(1) * recip(sqrt(channel(4) + call.number("eps")));
  return narrowed(call, (x - channel(3)) * factor + channel(2));
}

// x / max(norm, eps) along an axis, with the sum of absolute values or the root of the sum of squares as
// norm.
Results lowerNormalize(OpCall& call) {
  Tensor x = wideArg(call);
  int axis = call.b.axis(x, call.integer("axis"));
  int64_t p = call.integer("p");
  if (axis < 0) return Tensor();
  if (p != 1 && p != 2) return call.fail(Diag::BadAttribute, "a norm with p = " + std::to_string(p), "use 1 or 2");
  Tensor norm = p == 1 ? sum(abs(x), axis, true) : sqrt(sum(x * x, axis, true));
  return narrowed(call, x / max(norm, call.number("eps")));
}

}  // namespace svod
