#include "onnx/ops/rnn_activations.h"

#include <algorithm>

#include "onnx/ops/common.h"

namespace svod {

namespace {

constexpr Activation kActivations[] = {
    {"relu", "relu", false, false, 0, 0},
    {"tanh", "tanh", false, false, 0, 0},
    {"sigmoid", "sigmoid", false, false, 0, 0},
    {"affine", "", true, true, 1, 0},
    {"leakyrelu", "leaky_relu", true, false, 0.01, 0},
    {"thresholdedrelu", "threshold", true, false, 1, 0},
    {"scaledtanh", "", true, true, 1, 1},
    {"hardsigmoid", "hard_sigmoid", true, true, 0.2, 0.5},
    {"elu", "elu", true, false, 1, 0},
    {"softsign", "softsign", false, false, 0, 0},
    {"softplus", "softplus", false, false, 0, 0},
};

}  // namespace

Tensor activated(OnnxNode& n, const Activation& f, Tensor x) {
  if (f.name == "affine") return x * f.alpha + f.beta;
  if (f.name == "scaledtanh") return tanh(x * f.beta) * f.alpha;
  Attributes attributes;
  if (f.takesAlpha) attributes.emplace_back("alpha", f.alpha);
  if (f.takesBeta) attributes.emplace_back("beta", f.beta);
  return n.call(f.graphOp, {x}, attributes);
}

std::vector<Activation> activationsOf(OnnxNode& n, int directions) {
  size_t each = n.op.name == "RNN" ? 1 : n.op.name == "GRU" ? 2 : 3;
  std::vector<std::string> names = n.words("activations");
  if (names.empty())
    for (int d = 0; d < directions; ++d)
      for (size_t i = 0; i < each; ++i) names.emplace_back(each > 1 && i == 0 ? "Sigmoid" : "Tanh");
  if (!n.require(names.size() == each * static_cast<size_t>(directions),
                 "there are " + std::to_string(each) + " activations for every direction"))
    return {};
  std::vector<double> alphas = n.numbers("activation_alpha"), betas = n.numbers("activation_beta");
  size_t nextAlpha = 0, nextBeta = 0;
  std::vector<Activation> all;
  for (std::string& name : names) {
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    auto row = std::ranges::find(kActivations, std::string_view(name), &Activation::name);
    if (row == std::end(kActivations)) {
      n.unsupported("the activation '" + name + "'", "Sigmoid, Tanh, Relu and the others of the operator");
      return {};
    }
    all.push_back(*row);
    if (row->takesAlpha && nextAlpha < alphas.size()) all.back().alpha = alphas[nextAlpha++];
    if (row->takesBeta && nextBeta < betas.size()) all.back().beta = betas[nextBeta++];
  }
  return all;
}

}  // namespace svod
