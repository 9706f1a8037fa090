#include "onnx/ops/ml_scores.h"

#include "onnx/ops/common.h"

namespace svod {

namespace {

struct TransformName {
  std::string_view name;
  ScoreTransform transform;
};
constexpr TransformName kTransforms[] = {{"NONE", ScoreTransform::None},
                                         {"SOFTMAX", ScoreTransform::Softmax},
                                         {"LOGISTIC", ScoreTransform::Logistic},
                                         {"SOFTMAX_ZERO", ScoreTransform::SoftmaxZero},
                                         {"PROBIT", ScoreTransform::Probit}};

// sqrt(2) erfinv(2 p - 1), where erfinv(x)^2 = sqrt(v^2 - l / 0.147) - v with l = log(1 - x^2), v = 2 / (pi 0.147) + l
// / 2.
Tensor probit(Tensor p) {
  constexpr double kFactor = 0.147, kPi = 3.14159;
  Tensor x = p * 2.0 - 1.0, l = log((x * -1.0 + 1.0) * (x + 1.0));
  Tensor v = l * 0.5 + 2 / (kPi * kFactor);
  Tensor root = sqrt(sqrt(v * v - l * (1 / kFactor)) - v);
  return where(lt(x, 0), -root, root) * 1.41421356;
}

// Softmax of the scores that are not 0; those stay.
Tensor softmaxZero(Tensor scores) {
  constexpr double kNothing = 1e-7;
  Tensor most = maximum(scores, 1, true);
  Tensor counts = either(gt(scores, kNothing), lt(scores, -kNothing));
  Tensor power = where(counts, exp(scores - most), 0);
  return where(counts, power, scores * exp(-most)) / sum(power, 1, true);
}

}  // namespace

std::optional<ScoreTransform> transformOf(const OnnxNode& n) {
  const std::string word = n.word("post_transform");
  for (const TransformName& t : kTransforms)
    if (t.name == word) return t.transform;
  n.require(false, "'post_transform' is NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT");
  return std::nullopt;
}

Tensor transformed(ScoreTransform transform, Tensor scores) {
  if (!scores) return {};
  if (transform == ScoreTransform::Probit) return probit(scores);
  if (transform == ScoreTransform::None || scores.dim(1).is(1)) return scores;
  GraphBuilder& b = *scores.builder();
  if (transform == ScoreTransform::Logistic) return b.op("sigmoid", {scores});
  return transform == ScoreTransform::Softmax ? b.op("softmax", {scores}, {{"axis", 1}}) : softmaxZero(scores);
}

Tensor withFirstClass(const OnnxNode& n, ScoreTransform transform, Tensor scores, bool isShare) {
  const bool isLogistic = transform == ScoreTransform::Logistic;
  Tensor first = isShare && !isLogistic ? scores * -1.0 + 1.0 : -scores;
  if (isLogistic) {
    first = n.call("sigmoid", {first});
    scores = n.call("sigmoid", {scores});
  }
  return n.call("concat", {first, scores}, {{"axis", 1}});
}

ClassLabels labelsOf(const OnnxNode& n, std::string_view numbers, std::string_view strings) {
  const size_t texts = n.words(strings).size();
  ClassLabels labels{n.integers(numbers), texts, texts > 0};
  if (!labels.isText) labels.count = labels.numbers.size();
  return labels;
}

Tensor labelsAt(const OnnxNode& n, const ClassLabels& labels, Tensor positions) {
  if (!n.wants(0)) return {};
  if (labels.isText)
    return n.unsupported("labels that are strings",
                         "export the model with integer labels, or use its scores only and leave the first output out");
  return take(integersOf(n, DType::I64, {static_cast<int64_t>(labels.count)}, labels.numbers), 0, positions);
}

Tensor labelIf(const OnnxNode& n, const ClassLabels& labels, Tensor isSecond) {
  return labelsAt(n, labels, cast(isSecond, DType::I64));
}

Tensor featureRows(const OnnxNode& n, bool keepsDouble) {
  Tensor x = n.arg(0);
  if (!n.require(x.rank() == 1 || x.rank() == 2, "x is [rows, features] or [features]")) return {};
  if (x.rank() == 1) x = unsqueeze(x, 0);
  return cast(x, keepsDouble && x.dtype() == DType::F64 ? DType::F64 : DType::F32);
}

Tensor integersOf(const OnnxNode& n, DType dtype, std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  HostTensor host = HostTensor::zeros(dtype, std::move(dims));
  for (size_t i = 0; i < values.size(); ++i) host.set(static_cast<int64_t>(i), Scalar::ofInt(dtype, values[i]));
  return n.constantTensor(host);
}

}  // namespace svod
