// Activation functions, computed in f32 at least and rounded once. Integers become f32. Forms that cancel nowhere, and
// limits where an infinity would meet a 0.
#include "frontend/lower/common.h"

namespace svod {

namespace {

// -infinity would make a NaN of the 0 it is multiplied with.
Tensor aboveMinusInfinity(Tensor x) { return max(x, -maxFinite(x.dtype())); }

// e / (e + 1) is 1 long before the limit of x, and as small as e below.
Tensor sigmoid(Tensor x) {
  Tensor e = exp(min(x, 40));
  return e / (e + 1.0);
}
// exp of the negative magnitude cannot overflow.
Tensor softplus(Tensor x) { return max(x, 0) + log1pOfUnit(exp(-abs(x))); }
Tensor hardSigmoid(Tensor x, double alpha, double beta) { return min(max(x * alpha + beta, 0), 1); }

Tensor sigmoidLinear(Tensor x, double alpha) {
  Tensor gate = sigmoid(x * alpha);
  if (alpha < 0) return min(x, maxFinite(x.dtype())) * gate;
  return (alpha > 0 ? aboveMinusInfinity(x) : x) * gate;
}

}  // namespace

Results lowerSigmoid(OpCall& call) { return narrowed(call, sigmoid(wideArg(call))); }
Results lowerRelu(OpCall& call) { return max(call.arg(0), 0); }
Results lowerRelu6(OpCall& call) { return min(max(call.arg(0), 0), 6); }

Results lowerLeakyRelu(OpCall& call) {
  Tensor x = wideArg(call);
  return narrowed(call, where(lt(x, 0), x * call.number("alpha"), x));
}

Results lowerPrelu(OpCall& call) {
  Tensor x = call.arg(0);
  return where(lt(x, 0), x * call.arg(1), x);
}

Results lowerElu(OpCall& call) {
  Tensor x = wideArg(call);
  return narrowed(call, where(gt(x, 0), x, expm1Of(x) * call.number("alpha")));
}

Results lowerCelu(OpCall& call) {
  Tensor x = wideArg(call);
  double alpha = call.number("alpha");
  return narrowed(call, where(gt(x, 0), x, expm1Of(x / alpha) * alpha));
}

Results lowerSelu(OpCall& call) {
  constexpr double kAlpha = 1.6732632423543772, kScale = 1.0507009873554805;
  Tensor x = wideArg(call);
  return narrowed(call, where(gt(x, 0), x * kScale, expm1Of(x) * (kAlpha * kScale)));
}

// (tanh u + 1) / 2 is sigmoid(2 u).
Results lowerGelu(OpCall& call) {
  Tensor x = wideArg(call);
  if (call.word("approximate") == "tanh")
    return narrowed(call, aboveMinusInfinity(x) * sigmoid((x + x * x * x * 0.044715) * (2 * 0.7978845608028654)));
  return narrowed(call, aboveMinusInfinity(x) * 0.5 * (erf(x * 0.7071067811865476) + 1.0));
}

Results lowerQuickGelu(OpCall& call) { return narrowed(call, sigmoidLinear(wideArg(call), call.number("alpha"))); }
Results lowerSilu(OpCall& call) { return narrowed(call, sigmoidLinear(wideArg(call), 1)); }

// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2), 1 from the limit of x on.
Results lowerMish(OpCall& call) {
  Tensor x = wideArg(call), e = exp(min(x, 20)), n = e * (e + 2.0);
  return narrowed(call, aboveMinusInfinity(x) * (n / (n + 2.0)));
}

Results lowerSoftplus(OpCall& call) { return narrowed(call, softplus(wideArg(call))); }

Results lowerSoftsign(OpCall& call) {
  Tensor x = wideArg(call);
  Tensor finite = min(aboveMinusInfinity(x), maxFinite(x.dtype()));
  return narrowed(call, finite / (abs(finite) + 1.0));
}

Results lowerHardSigmoid(OpCall& call) {
  return narrowed(call, hardSigmoid(wideArg(call), call.number("alpha"), call.number("beta")));
}

Results lowerHardSwish(OpCall& call) {
  Tensor x = wideArg(call);
  return narrowed(call, max(x, -3) * hardSigmoid(x, 1.0 / 6, 0.5));
}

Results lowerThreshold(OpCall& call) {
  Tensor x = call.arg(0);
  return where(gt(wideArg(call), call.number("alpha")), x, 0);
}

}  // namespace svod
