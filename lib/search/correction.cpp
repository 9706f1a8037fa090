#include "search/correction.h"

#include <cmath>

namespace svod {

namespace {

constexpr size_t kLeastSamples = 12;
constexpr double kPenalty = 1;  // as much as one sample that says that a weight is 0

using Matrix = std::array<Features, kFeatureCount>;

/// x of a x = b for a symmetric positive definite a, by its Cholesky factor.
Features solved(Matrix a, Features b) {
  for (size_t i = 0; i < kFeatureCount; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      for (size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(a[i][i]) : a[i][j] / a[j][j];
    }
    for (size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (size_t i = kFeatureCount; i-- > 0;) {
    for (size_t k = i + 1; k < kFeatureCount; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

void Correction::add(const std::string& kernel, const Candidate& candidate, double nanoseconds) {
  if (candidate.predicted <= 0 || nanoseconds <= 0) return;
  samples_[kernel].push_back({candidate.features, std::log(nanoseconds / candidate.predicted)});
}

size_t Correction::samples() const {
  size_t count = 0;
  for (const auto& [kernel, samples] : samples_) count += samples.size();
  return count;
}

void Correction::fit() {
  weights_ = {};
  if (samples() < kLeastSamples) return;
  Matrix squares = {};
  Features products = {};
  for (size_t i = 0; i < kFeatureCount; ++i) squares[i][i] = kPenalty;
  for (const auto& [kernel, samples] : samples_) {
    Sample mean = {};
    for (const Sample& s : samples) {
      for (size_t i = 0; i < kFeatureCount; ++i) mean.features[i] += s.features[i];
      mean.error += s.error;
    }
    const auto count = static_cast<double>(samples.size());
    for (const Sample& s : samples)
      for (size_t i = 0; i < kFeatureCount; ++i) {
        const double own = s.features[i] - mean.features[i] / count;
        for (size_t j = 0; j < kFeatureCount; ++j) squares[i][j] += own * (s.features[j] - mean.features[j] / count);
        products[i] += own * (s.error - mean.error / count);
      }
  }
  weights_ = solved(squares, products);
}

double Correction::expected(const Candidate& candidate) const {
  double error = 0;
  for (size_t i = 0; i < kFeatureCount; ++i) error += weights_[i] * candidate.features[i];
  return candidate.predicted * std::exp(error);
}

}  // namespace svod
