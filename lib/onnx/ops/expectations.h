// Operands that decide a shape and that only a run knows: what every run must find in them, so that the shape is the
// one the plan is for. Errors are recorded in the node.
#pragma once
#include "onnx/node.h"

namespace svod {

/// Whether a vector operand lists the axis of a tensor of that rank: a bool scalar.
Tensor isListedAtRun(OnnxNode& n, int operand, int axis, int rank);

// --- Operand 1 makes a result of these dims from operand 0, by the rules of the op.
void expectReshaped(OnnxNode& n, const Dims& wanted);
void expectExpanded(OnnxNode& n, const Dims& wanted);
/// Squeeze and the reductions: without the axes it lists, or with 1 in place of them.
void expectFolded(OnnxNode& n, bool keepsAxes, const Dims& wanted);
void expectUnsqueezed(OnnxNode& n, const Dims& wanted);

/// A result for one case of what operands may ask for, and whether a run asks for it: a bool scalar.
struct CaseAtRun {
  Tensor isMeant, result;
};
/// The result of the case that a run asks for, which must be one of these; all have the same dims. An error without
/// any.
Tensor chosenAtRun(OnnxNode& n, std::initializer_list<int> operands, const std::vector<CaseAtRun>& cases);

/// The operands of Range give so many numbers.
void expectRange(OnnxNode& n, Dim wanted);

}  // namespace svod
