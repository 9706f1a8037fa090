// Fourier transforms of graph files: of whole axes, and of frames of a signal.
#include "frontend/lower/common.h"
#include "frontend/lower/fourier.h"

namespace svod {

namespace {

// Both parts with `axis` last, or back again.
Complex permuted(const Complex& x, const std::vector<int>& order) {
  return {permute(x.real, order), x.imaginary ? permute(x.imaginary, order) : Tensor()};
}

// Operand 0 as numbers, and the place of the attribute axis among their axes, below 0 after an error.
struct Signal {
  Complex x;
  int axis = -1;
};
Signal complexSignal(OpCall& call) {
  const Tensor x = wideArg(call);
  if (!call.require(x.rank() >= 2 && x.dim(-1).is(2), "the last axis of x has two elements: real and imaginary part"))
    return {};
  const int axis = call.b.axisOfRank(x.rank(), static_cast<int>(call.integer("axis")), x);
  if (axis < 0 || !call.require(axis < x.rank() - 1, "'axis' is not the last axis")) return {};
  return {complexOf(x), axis};
}

Dim half(Dim length) { return floordiv(length, 2) + 1; }

Tensor firstTerms(Tensor line, Dim count) {
  return narrow(line, -1, line.builder()->dim(0), smaller(line.dim(-1), count));
}

}  // namespace

Results lowerFft(OpCall& call) {
  const Signal s = complexSignal(call);
  if (s.axis < 0) return Tensor();
  const Dim length = s.x.real.dim(s.axis);
  const std::vector<int> order = orderWithLast(s.x.real.rank(), s.axis);
  const Complex y = transformed(permuted(s.x, order), length, length, call.flag("inverse"));
  return y.real ? narrowed(call, joined(permuted(y, inverseOrder(order)))) : Tensor();
}

Results lowerRfft(OpCall& call) {
  const Tensor x = wideArg(call);
  const int axis = call.b.axisOfRank(x.rank(), static_cast<int>(call.integer("axis")), x);
  if (axis < 0) return Tensor();
  const Dim length = x.dim(axis);
  const std::vector<int> order = orderWithLast(x.rank(), axis);
  const Complex y = transformed({permute(x, order), {}}, half(length), length, false);
  return y.real ? narrowed(call, joined(permuted(y, inverseOrder(order)))) : Tensor();
}

Results lowerIrfft(OpCall& call) {
  const Signal s = complexSignal(call);
  if (s.axis < 0) return Tensor();
  const Dim terms = s.x.real.dim(s.axis);
  const Dim length = call.has("length") ? call.dim("length") : (terms - 1) * 2;
  if (!call.require(length.max() >= 1, "'length' is at least 1")) return Tensor();
  const std::vector<int> order = orderWithLast(s.x.real.rank(), s.axis);
  Complex x = permuted(s.x, order);
  x = {firstTerms(x.real, half(length)), firstTerms(x.imaginary, half(length))};
  if (!x.real) return Tensor();
  return narrowed(call, permute(realSignal(x, length), inverseOrder(order)));
}

Results lowerStft(OpCall& call) {
  const Tensor x = wideArg(call), window = call.arg(1);
  WindowAxis frames;
  frames.size = x.rank() > 0 ? x.dim(-1) : call.b.dim(0);
  frames.kernel = call.dim("length"), frames.stride = call.integer("step");
  frames.before = frames.after = call.b.dim(0);
  const Dim fits = floordiv(frames.size - frames.kernel, frames.stride > 0 ? frames.stride : 1) + 1;
  frames.count = larger(fits, call.b.dim(0));
  if (!call.require(x.rank() >= 1, "x has an axis of samples") ||
      !call.require(frames.stride > 0 && frames.kernel.min() >= 1, "'length' and 'step' are at least 1") ||
      !call.require(fits.max() >= 1, "x has at least one frame of samples") ||
      !call.require(!window || (window.rank() == 1 && window.dim(0) == frames.kernel),
                    "window has one factor per sample of a frame"))
    return Tensor();
  Tensor framed = unfold(x, x.rank() - 1, {frames});
  if (window) framed = framed * cast(window, framed.dtype());
  return narrowed(call, joined(transformed({framed, {}}, half(frames.kernel), frames.kernel, false)));
}

}  // namespace svod
