// Products, sums and convolutions with what follows them.
#include "onnx/ops/channels.h"
#include "onnx/ops/common.h"

namespace svod {

namespace {

/// A function that an op applies to its result, and its parameters: names in the graph op, defaults.
struct Activation {
  std::string_view name, graphOp;
  std::vector<std::string_view> parameters;
  std::vector<double> defaults;
};

const std::vector<Activation>& activations() {
  static const std::vector<Activation> kAll = {
      {"Relu", "relu", {}, {}},
      {"Tanh", "tanh", {}, {}},
      {"Sigmoid", "sigmoid", {}, {}},
      {"Softplus", "softplus", {}, {}},
      {"Softsign", "softsign", {}, {}},
      {"Gelu", "gelu", {}, {}},
      {"HardSwish", "hard_swish", {}, {}},
      {"LeakyRelu", "leaky_relu", {"alpha"}, {0.01}},
      {"Elu", "elu", {"alpha"}, {1}},
      {"ThresholdedRelu", "threshold", {"alpha"}, {1}},
      {"HardSigmoid", "hard_sigmoid", {"alpha", "beta"}, {0.2, 0.5}},
      {"Clip", "clip", {"min", "max"}, {-3.4028234663852886e38, 3.4028234663852886e38}},
  };
  return kAll;
}

// x with the function `name` applied; an empty name is none. Parameters that are missing have their defaults.
Tensor activated(const OnnxNode& n, const std::string& name, const std::vector<double>& parameters, Tensor x) {
  if (name.empty() || !x) return x;
  for (const Activation& a : activations()) {
    if (a.name != name) continue;
    Attributes attributes;
    for (size_t i = 0; i < a.parameters.size(); ++i)
      attributes.emplace_back(std::string(a.parameters[i]), i < parameters.size() ? parameters[i] : a.defaults[i]);
    return n.call(a.graphOp, {x}, attributes);
  }
  std::string known;
  for (const Activation& a : activations()) known += (known.empty() ? "" : ", ") + std::string(a.name);
  return n.unsupported("the activation '" + name + "'", "one of " + known);
}

std::vector<double> activationParameters(const OnnxNode& n) {
  std::vector<double> all;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (n.has(name)) all.push_back(n.number(name));
  return all;
}

// A factor as it is multiplied. With `isBatched` the first axis is one of the matrix, and those behind it are the
// batch.
Tensor factor(const OnnxNode& n, Tensor x, bool isTransposed, bool isBatched) {
  if (isBatched && x.rank() > 2) {
    std::vector<int> order = axesFrom(1, x.rank() - 1);
    order.push_back(0);
    order.push_back(x.rank() - 1);
    x = permute(x, order);
  }
  return isTransposed && x.rank() > 1 ? n.call("transpose", {x}) : x;
}

// The convolution of x by operand 1, plus operand 2; the rest of the node follows.
Tensor sumAndActivation(const OnnxNode& n, Tensor y, Tensor added) {
  if (!y) return {};
  if (added) y = y + added;
  return activated(n, n.word("activation"), n.numbers("activation_params"), y);
}

}  // namespace

Results onnxFusedMatMul(OnnxNode& n) {
  Tensor a = factor(n, n.arg(0), n.flag("transA"), n.flag("transBatchA"));
  Tensor b = factor(n, n.arg(1), n.flag("transB"), n.flag("transBatchB"));
  Tensor y = n.call("matmul", {a, b});
  if (n.number("alpha") != 1) y = y * n.number("alpha");
  return activated(n, n.word("activation"), activationParameters(n), y);
}

Results onnxGemm(OnnxNode& n);
Results onnxFusedGemm(OnnxNode& n) {
  Results y = onnxGemm(n);
  return n.b.failed() ? Tensor() : activated(n, n.word("activation"), activationParameters(n), y[0]);
}

Results onnxConv(OnnxNode& n);
Results onnxFusedConv(OnnxNode& n) {
  Results y = onnxConv(n);
  return n.b.failed() ? Tensor() : sumAndActivation(n, y[0], n.arg(3));
}

Results onnxNhwcFusedConv(OnnxNode& n) {
  std::vector<Tensor> operands(n.args().begin(), n.args().end());
  operands[0] = channelsSecond(operands[0]);
  OnnxNode inner = n.withArgs(operands);
  Results y = onnxConv(inner);
  return n.b.failed() ? Tensor() : sumAndActivation(n, channelsLast(y[0]), n.arg(3));
}

Results onnxBiasGelu(OnnxNode& n) { return n.call("gelu", {n.arg(0) + n.arg(1)}); }

Results onnxFastGelu(OnnxNode& n) {
  return n.call("gelu", {n.has(1) ? n.arg(0) + n.arg(1) : n.arg(0)}, {{"approximate", "tanh"}});
}

// The left half times gelu of the right one.
Results onnxBiasSplitGelu(OnnxNode& n) {
  Tensor x = n.arg(0) + n.arg(1);
  if (!x || !n.require(x.rank() >= 1 && floordiv(x.dim(-1), 2) * 2 == x.dim(-1), "the last dim of x is even"))
    return Tensor();
  Dim half = floordiv(x.dim(-1), 2);
  return narrow(x, -1, n.b.dim(0), half) * n.call("gelu", {narrow(x, -1, half, half)});
}

Results onnxBiasAdd(OnnxNode& n) { return n.arg(0) + n.arg(1) + n.arg(2); }

}  // namespace svod
