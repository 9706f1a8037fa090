// Linear models and support vector machines of ai.onnx.ml.
#include <algorithm>
#include <string>

#include "onnx/ops/common.h"
#include "onnx/ops/ml_scores.h"
#include "onnx/ops/steps.h"

namespace svod {

namespace {

// Rows of numbers in a list: `list` cut into `rows` equal parts.
Tensor matrixOf(const OnnxNode& n, std::string_view name, size_t rows, const Tensor& x) {
  const std::vector<double> list = n.numbers(name);
  if (!n.require(
          rows > 0 && !list.empty() && list.size() % rows == 0 && x.dim(1).is(static_cast<int64_t>(list.size() / rows)),
          "'" + std::string(name) + "' has one number per feature in each of " + std::to_string(rows) + " rows"))
    return {};
  return constantOf(n, DType::F32, {static_cast<int64_t>(rows), static_cast<int64_t>(list.size() / rows)}, list);
}

Tensor product(const OnnxNode& n, Tensor x, Tensor rows) { return n.call("linear", {x, rows}); }

Tensor vectorOf(const OnnxNode& n, const std::vector<double>& values) {
  return constantOf(n, DType::F32, {static_cast<int64_t>(values.size())}, values);
}

Tensor bestOf(const OnnxNode& n, Tensor scores) { return n.call("argmax", {scores}, {{"axis", 1}}); }

bool isPositive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return v >= 0; });
}

}  // namespace

Results onnxMlLinearRegressor(OnnxNode& n) {
  Tensor x = featureRows(n);
  const std::optional<ScoreTransform> transform = transformOf(n);
  const int64_t targets = n.integer("targets");
  const std::vector<double> intercepts = n.numbers("intercepts");
  if (!x || !transform || !n.require(targets > 0, "'targets' is positive") ||
      !n.require(intercepts.empty() || std::ssize(intercepts) == targets, "'intercepts' has one entry per target"))
    return Tensor();
  Tensor y = product(n, x, matrixOf(n, "coefficients", static_cast<size_t>(targets), x));
  if (!intercepts.empty()) y = y + vectorOf(n, intercepts);
  return transformed(*transform, y);
}

Results onnxMlLinearClassifier(OnnxNode& n) {
  Tensor x = featureRows(n);
  const std::optional<ScoreTransform> transform = transformOf(n);
  const ClassLabels labels = labelsOf(n, "classlabels_ints", "classlabels_strings");
  const std::vector<double> intercepts = n.numbers("intercepts");
  const size_t count = intercepts.size();
  if (!x || !transform || !n.require(count > 0, "'intercepts' has one entry per row of coefficients") ||
      !n.require(count == labels.count || (count == 1 && labels.count == 2), "there is a label for each score"))
    return Tensor();
  Tensor scores = product(n, x, matrixOf(n, "coefficients", count, x)) + vectorOf(n, intercepts);
  if (!scores) return Tensor();
  if (count > 1) return std::vector{labelsAt(n, labels, bestOf(n, scores)), transformed(*transform, scores)};
  Tensor isSecond = gt(squeeze(scores, 1), 0);
  if (labels.count == 1)
    return std::vector{n.wants(0) ? cast(isSecond, DType::I64) : Tensor(), transformed(*transform, scores)};
  if (*transform == ScoreTransform::Probit)
    return n.unsupported("PROBIT of one score for two classes", "a row of coefficients per class");
  return std::vector{labelIf(n, labels, isSecond), withFirstClass(n, *transform, scores, true)};
}

// --- Support vectors

namespace {

/// How alike a row and a support vector are, by kernel_type and kernel_params = gamma, coef0, degree.
struct SvmKernel {
  std::string type;
  double gamma = 0, offset = 0, degree = 0;
};

std::optional<SvmKernel> kernelOf(const OnnxNode& n) {
  SvmKernel k{n.word("kernel_type")};
  const std::vector<double> p = n.numbers("kernel_params");
  bool isKnown = k.type == "LINEAR" || k.type == "POLY" || k.type == "RBF" || k.type == "SIGMOID";
  if (!n.require(isKnown, "'kernel_type' is LINEAR, POLY, RBF or SIGMOID") ||
      !n.require(p.empty() || p.size() == 3, "'kernel_params' are gamma, coef0 and degree"))
    return std::nullopt;
  if (!p.empty()) k.gamma = p[0], k.offset = p[1], k.degree = p[2];
  return k;
}

// [rows, vectors]
Tensor alike(const OnnxNode& n, const SvmKernel& k, Tensor x, Tensor vectors) {
  if (k.type == "RBF") {
    Tensor distance = unsqueeze(x, 1) - vectors;
    return exp(sum(distance * distance, 2) * -k.gamma);
  }
  Tensor y = product(n, x, vectors);
  if (k.type == "LINEAR") return y;
  y = y * k.gamma + k.offset;
  if (k.type == "SIGMOID") return tanh(y);
  return k.degree == 2 ? y * y : k.degree == 3 ? y * y * y : pow(y, k.degree);
}

/// The classifiers of a machine, one for each pair of classes.
struct Pairs {
  std::vector<int64_t> first, second;
};

Pairs pairsOf(size_t classes) {
  Pairs pairs;
  for (size_t i = 0; i + 1 < classes; ++i)
    for (size_t j = i + 1; j < classes; ++j) {
      pairs.first.push_back(static_cast<int64_t>(i));
      pairs.second.push_back(static_cast<int64_t>(j));
    }
  return pairs;
}

// What every vector counts for in every pair, [pairs, vectors]: a vector of class i stands in row j - 1 of the
// coefficients for the pair (i, j), one of class j in row i; vectors of other classes do not count.
Tensor pairWeights(const OnnxNode& n, const Pairs& pairs, const std::vector<int64_t>& perClass, size_t vectors) {
  const std::vector<double> coefficients = n.numbers("coefficients");
  std::vector<double> weights(pairs.first.size() * vectors);
  for (size_t p = 0; p < pairs.first.size(); ++p)
    for (size_t c = 0, v = 0; c < perClass.size(); ++c)
      for (int64_t k = 0; k < perClass[c]; ++k, ++v) {
        const auto i = static_cast<size_t>(pairs.first[p]), j = static_cast<size_t>(pairs.second[p]);
        if (c == i || c == j) weights[p * vectors + v] = coefficients[(c == i ? j - 1 : i) * vectors + v];
      }
  return constantOf(n, DType::F32, {std::ssize(pairs.first), static_cast<int64_t>(vectors)}, weights);
}

// A matrix [classes, classes] per row from a value per pair: `upper` of i < j at (i, j), `lower` at (j, i), 0 between.
Tensor squareOf(const OnnxNode& n, const Pairs& pairs, int64_t classes, Tensor upper, Tensor lower) {
  const int64_t count = std::ssize(pairs.first);
  std::vector<int64_t> place(static_cast<size_t>(classes * classes), 2 * count);
  for (size_t p = 0; p < pairs.first.size(); ++p) {
    place[static_cast<size_t>(pairs.first[p] * classes + pairs.second[p])] = static_cast<int64_t>(p);
    place[static_cast<size_t>(pairs.second[p] * classes + pairs.first[p])] = count + static_cast<int64_t>(p);
  }
  Tensor all = n.call("concat", {upper, lower}, {{"axis", 1}});  // what lies outside is 0
  return take(all, 1, integersOf(n, DType::I64, {classes, classes}, place));
}

// Shares of classes from the shares of pairs r [rows, classes, classes]: the p with the least sum of (r_ji p_i - r_ij
// p_j)^2, by at most 100 rounds of the method of Wu, Lin and Weng; rows stand still once they are good enough.
Tensor sharesOf(OnnxNode& n, Tensor r, int64_t classes) {
  GraphBuilder& b = n.b;
  constexpr int64_t kRounds = 100;
  Tensor other = permute(r, {0, 2, 1}), square = sum(other * other, 2, true);  // of r_ji over j
  Tensor isDiagonal = n.call("eye", std::span<const Tensor>(), {{"n", classes}, {"dtype", DType::Bool}});
  Tensor q = contiguous(where(isDiagonal, square, -(other * r)));
  Tensor p = b.full({r.dim(0), b.dim(classes)}, b.constant(Scalar::of(DType::F32, 1.0 / static_cast<double>(classes))));
  auto timesQ = [&](Tensor v) { return sum(q * unsqueeze(v, 1), 2); };
  auto isOpen = [&](Tensor v) {
    Tensor qv = timesQ(v);
    Tensor off = maximum(abs(qv - sum(v * qv, 1, true)), 1, true);
    return ge(off, static_cast<double>(0.005f / static_cast<float>(classes)));
  };
  auto round = [&](const StepInputs& in) -> std::optional<StepResults> {
    Tensor v = in.state[0], qv = timesQ(v), energy = sum(v * qv, 1, true), isMoved = isOpen(v), now = v;
    for (int64_t i = 0; i < classes; ++i) {
      auto at = [&](Tensor t) { return narrow(t, 1, b.dim(i), b.dim(1)); };
      Tensor row = squeeze(at(q), 1), diagonal = at(row), step = (energy - at(qv)) / diagonal,
             scale = recip(step + 1.0);
      energy = (energy + step * (step * diagonal + at(qv) * 2.0)) * scale * scale;
      Tensor isMine = eq(cast(b.iota(b.dim(classes)), DType::I64), i);
      qv = contiguous((qv + step * row) * scale);
      now = contiguous((now + where(isMine, step, 0)) * scale);
    }
    if (!now) return std::nullopt;
    Tensor next = where(isMoved, now, v);
    return StepResults{n.call("any", {isOpen(next)}), {next}, {}};
  };
  StepLoop loop;
  loop.count = b.dim(kRounds);
  loop.goesOn = n.call("any", {isOpen(p)});
  std::optional<StepTotals> totals = runSteps(n, loop, {p}, round);
  return totals ? totals->state[0] : Tensor();
}

// The machines without support vectors: a row of coefficients per class.
Results linearMachine(OnnxNode& n, Tensor x, const ClassLabels& labels, ScoreTransform transform) {
  const std::vector<double> coefficients = n.numbers("coefficients");
  Tensor scores = product(n, x, matrixOf(n, "coefficients", labels.count, x)) + n.numbers("rho")[0];
  if (!scores) return Tensor();
  Tensor best = bestOf(n, scores);
  if (labels.count == 2) {
    Tensor most = maximum(scores, 1);
    best =
        where(isPositive(coefficients) ? ge(most, 0.5) : gt(most, 0), n.b.constant(Scalar::ofInt(DType::I64, 1)), best);
  }
  return std::vector{labelsAt(n, labels, best), transformed(transform, scores)};
}

}  // namespace

Results onnxMlSvmRegressor(OnnxNode& n) {
  Tensor x = featureRows(n);
  const std::optional<SvmKernel> kernel = kernelOf(n);
  const std::vector<double> coefficients = n.numbers("coefficients"), rho = n.numbers("rho");
  const int64_t vectors = n.integer("n_supports");
  if (!x || !kernel || !n.require(!rho.empty(), "'rho' has an entry") ||
      !n.require(vectors == 0 || std::ssize(coefficients) == vectors,
                 "'coefficients' has one entry per support vector"))
    return Tensor();
  Tensor y;
  if (vectors > 0) {
    Tensor near = alike(n, *kernel, x, matrixOf(n, "support_vectors", static_cast<size_t>(vectors), x));
    y = product(n, near, unsqueeze(vectorOf(n, coefficients), 0));
  } else {
    y = product(n, x, matrixOf(n, "coefficients", 1, x));
  }
  y = y + rho[0];
  return n.flag("one_class") ? where(gt(y, 0), 1.0, -1.0) : y;
}

Results onnxMlSvmClassifier(OnnxNode& n) {
  Tensor x = featureRows(n);
  const std::optional<SvmKernel> kernel = kernelOf(n);
  const std::optional<ScoreTransform> transform = transformOf(n);
  const ClassLabels labels = labelsOf(n, "classlabels_ints", "classlabels_strings");
  const std::vector<int64_t> perClass = n.integers("vectors_per_class");
  const std::vector<double> rho = n.numbers("rho"), a = n.numbers("prob_a"), b = n.numbers("prob_b");
  const Pairs pairs = pairsOf(labels.count);
  const size_t count = pairs.first.size();
  if (!x || !kernel || !transform ||
      !n.require(labels.count > 0 && !rho.empty(), "there are classes, and 'rho' has an entry"))
    return Tensor();
  if (perClass.empty()) return linearMachine(n, x, labels, *transform);
  size_t vectors = 0;
  for (int64_t v : perClass) vectors += static_cast<size_t>(std::clamp<int64_t>(v, 0, int64_t{1} << 31));
  if (!n.require(perClass.size() == labels.count && count > 0,
                 "there are two classes or more, each with its 'vectors_per_class'") ||
      !n.require(rho.size() >= count && a.size() == b.size() && (a.empty() || a.size() >= count),
                 "'rho', 'prob_a' and 'prob_b' have one entry per pair of classes") ||
      !n.require(n.numbers("coefficients").size() == (labels.count - 1) * vectors,
                 "'coefficients' has a row of one entry per support vector for each class but one"))
    return Tensor();
  auto firstOf = [&](std::vector<double> list) {
    return vectorOf(n, {list.begin(), list.begin() + static_cast<int64_t>(count)});
  };
  Tensor near = alike(n, *kernel, x, matrixOf(n, "support_vectors", vectors, x));
  if (!near) return Tensor();
  Tensor scores = product(n, near, pairWeights(n, pairs, perClass, vectors)) + firstOf(rho);
  // Of every pair one class gets a vote; the first one with the most wins.
  const auto classes = static_cast<int64_t>(labels.count);
  Tensor isFirst = cast(gt(scores, 0), DType::I32),
         votes = sum(squareOf(n, pairs, classes, isFirst, isFirst * -1 + 1), 2);
  Tensor label = labelsAt(n, labels, bestOf(n, votes));
  if (!a.empty()) {
    Tensor share = n.call("sigmoid", {-(scores * firstOf(a) + firstOf(b))});
    share = n.call("clip", {share}, {{"min", 1e-7}, {"max", 1 - 1e-7}});
    return std::vector{
        label, transformed(*transform, sharesOf(n, squareOf(n, pairs, classes, share, share * -1.0 + 1.0), classes))};
  }
  if (count > 1) return std::vector{label, transformed(*transform, scores)};
  if (*transform == ScoreTransform::Probit)
    return n.unsupported("PROBIT of one score for two classes", "prob_a and prob_b");
  return std::vector{label, withFirstClass(n, *transform, scores, *transform != ScoreTransform::None)};
}

}  // namespace svod
