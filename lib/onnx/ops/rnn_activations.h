// The activation functions of recurrent layers.
#pragma once
#include <string_view>
#include <vector>

#include "onnx/node.h"

namespace svod {

struct Activation {
  std::string_view name, graphOp;
  bool takesAlpha, takesBeta;
  double alpha, beta;  // unless given
};

Tensor activated(OnnxNode& n, const Activation& f, Tensor x);

/// The functions of all directions, as many for each; none after an error. Parameters are handed out in order, to those
/// that take one.
std::vector<Activation> activationsOf(OnnxNode& n, int directions);

}  // namespace svod
