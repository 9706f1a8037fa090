// What models of ai.onnx.ml make of their scores: the transform behind a model, the second class of a binary one,
// labels.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "onnx/node.h"

namespace svod {

/// The attribute post_transform.
enum class ScoreTransform : uint8_t { None, Softmax, Logistic, SoftmaxZero, Probit };

/// The attribute as a word; nothing after an error.
std::optional<ScoreTransform> transformOf(const OnnxNode& n);
/// Scores [rows, classes]. A single score per row is only changed by Probit, as ONNX Runtime has it.
Tensor transformed(ScoreTransform transform, Tensor scores);
/// Scores [rows, 1] of the second of two classes, with those of the first before them: the logistic functions of -score
/// and score where that is the transform, else 1 - score where scores are shares, and -score where they are not.
Tensor withFirstClass(const OnnxNode& n, ScoreTransform transform, Tensor scores, bool isShare);

/// The classes of a node, by its attributes for numbers and strings.
struct ClassLabels {
  std::vector<int64_t> numbers;
  size_t count = 0;
  bool isText = false;
};
ClassLabels labelsOf(const OnnxNode& n, std::string_view numbers, std::string_view strings);
/// Labels, i64 [rows], of positions; null where nobody uses them, or after an error: labels that are strings.
Tensor labelsAt(const OnnxNode& n, const ClassLabels& labels, Tensor positions);
/// As above for two classes: the second one where `isSecond`.
Tensor labelIf(const OnnxNode& n, const ClassLabels& labels, Tensor isSecond);

/// Operand 0 as rows of features, in the dtype that scores are computed in: f64 if it is f64 and `keepsDouble`, else
/// f32. Null, and an error, where it has more than two dims.
Tensor featureRows(const OnnxNode& n, bool keepsDouble = false);
/// A constant of integers, exactly.
Tensor integersOf(const OnnxNode& n, DType dtype, std::vector<int64_t> dims, const std::vector<int64_t>& values);

}  // namespace svod
