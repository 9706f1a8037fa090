// Activation functions. Integers become f32.
#include "frontend/graph_op.h"

namespace svod {

namespace {

Tensor sigmoid(Tensor x) { return recip(exp(-x) + 1.0); }
// exp of the negative magnitude cannot overflow.
Tensor softplus(Tensor x) { return max(x, 0) + log(exp(-abs(x)) + 1.0); }
Tensor elu(Tensor x, double alpha) { return where(gt(x, 0), x, (exp(min(x, 0)) - 1.0) * alpha); }
Tensor hardSigmoid(Tensor x, double alpha, double beta) { return min(max(x * alpha + beta, 0), 1); }

Tensor floatArg(OpCall& call) {
  Tensor x = call.arg(0);
  return isFloat(x.dtype()) && !x.isLiteral() ? x : cast(x, DType::F32);
}

}  // namespace

Results lowerSigmoid(OpCall& call) { return sigmoid(floatArg(call)); }
Results lowerRelu(OpCall& call) { return max(call.arg(0), 0); }
Results lowerRelu6(OpCall& call) { return min(max(call.arg(0), 0), 6); }

Results lowerLeakyRelu(OpCall& call) {
  Tensor x = floatArg(call);
  return where(lt(x, 0), x * call.number("alpha"), x);
}

Results lowerPrelu(OpCall& call) {
  Tensor x = call.arg(0);
  return where(lt(x, 0), x * call.arg(1), x);
}

Results lowerElu(OpCall& call) { return elu(floatArg(call), call.number("alpha")); }

Results lowerCelu(OpCall& call) {
  Tensor x = floatArg(call);
  double alpha = call.number("alpha");
  return where(gt(x, 0), x, (exp(min(x, 0) / alpha) - 1.0) * alpha);
}

Results lowerSelu(OpCall& call) { return elu(floatArg(call), 1.6732632423543772) * 1.0507009873554805; }

Results lowerGelu(OpCall& call) {
  Tensor x = floatArg(call);
  if (call.word("approximate") == "tanh")
    return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.7978845608028654) + 1.0);
  return x * 0.5 * (erf(x * 0.7071067811865476) + 1.0);
}

Results lowerQuickGelu(OpCall& call) {
  Tensor x = floatArg(call);
  return x * sigmoid(x * call.number("alpha"));
}

Results lowerSilu(OpCall& call) {
  Tensor x = floatArg(call);
  return x * sigmoid(x);
}

Results lowerMish(OpCall& call) {
  Tensor x = floatArg(call);
  return x * tanh(softplus(x));
}

Results lowerSoftplus(OpCall& call) { return softplus(floatArg(call)); }

Results lowerSoftsign(OpCall& call) {
  Tensor x = floatArg(call);
  return x / (abs(x) + 1.0);
}

Results lowerHardSigmoid(OpCall& call) {
  return hardSigmoid(floatArg(call), call.number("alpha"), call.number("beta"));
}

Results lowerHardSwish(OpCall& call) {
  Tensor x = floatArg(call);
  return x * hardSigmoid(x, 1.0 / 6, 0.5);
}

Results lowerThreshold(OpCall& call) {
  Tensor x = call.arg(0);
  return where(gt(x, call.number("alpha")), x, 0);
}

}  // namespace svod
