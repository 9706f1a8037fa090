// What the cost model gets wrong on a machine, learned from times: a linear model for the ranking of candidates.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "search/measure.h"

namespace svod {

/// log(time / predicted) = a constant of the kernel + the sum of weight * feature (features.h), by least squares with a
/// small penalty on weights. Constants of kernels matter to no ranking and are taken out: every kernel's samples count
/// from their mean. The same samples in the same order give the same weights.
class Correction {
 public:
  /// Of one kernel, `candidate` took so many nanoseconds.
  void add(const std::string& kernel, const Candidate& candidate, double nanoseconds);
  /// Weights for all samples there are. Too few of them: none.
  void fit();

  /// For ranking among candidates of a kernel.
  double expected(const Candidate& candidate) const;
  const Features& weights() const { return weights_; }
  size_t samples() const;

 private:
  struct Sample {
    Features features;
    double error;  // log(time / predicted)
  };
  std::map<std::string, std::vector<Sample>> samples_;  // by kernel
  Features weights_ = {};
};

}  // namespace svod
