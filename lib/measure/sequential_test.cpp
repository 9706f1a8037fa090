#include "measure/sequential_test.h"

#include <algorithm>
#include <cmath>

namespace svod {

namespace {

constexpr double kUnder = 0.5, kOver = 0.8, kError = 0.01;

double decided() { return std::log((1 - kError) / kError); }

}  // namespace

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1) + 0.5)];
}

double spreadOf(const std::vector<double>& values) {
  return (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / quantile(values, 0.5);
}

void SequentialTest::add(double ratio) {
  ratios_.push_back(ratio);
  evidence_ += ratio <= gain_ ? std::log(kOver / kUnder) : std::log((1 - kOver) / (1 - kUnder));
}

bool SequentialTest::wins() const { return evidence_ >= decided() && ratio() < 1; }
bool SequentialTest::loses() const { return evidence_ <= -decided() || (evidence_ >= decided() && ratio() >= 1); }

double SequentialTest::ratio() const { return ratios_.empty() ? 1 : quantile(ratios_, 0.5); }
double SequentialTest::noise() const { return ratios_.empty() ? 0 : spreadOf(ratios_); }

bool outweighs(const SequentialTest& warm, const SequentialTest& cold) {
  return !cold.wins() && warm.ratio() * cold.ratio() >= 1;
}

std::optional<bool> isSlower(const SequentialTest& warm, const SequentialTest& cold) {
  if (warm.loses()) return true;
  if (!warm.isOver() || !cold.isOver()) return std::nullopt;
  return (!warm.wins() && warm.ratio() >= 1) || outweighs(warm, cold);
}

bool isClearlySlower(const BothWays& warm, const BothWays& cold) {
  return warm.loss.wins() || (cold.loss.wins() && warm.gain.ratio() * cold.gain.ratio() >= 1);
}

}  // namespace svod
