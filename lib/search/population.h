// A population of lists that were timed, fastest first, deduplicated by object code: the shortest list stands for all.
#pragma once
#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "search/measure.h"

namespace svod {

struct Timed {
  Candidate candidate;
  double nanoseconds;
  std::string code;  // Prepared::code; empty where it is not known
};

class Population {
 public:
  /// Whether its code is new, as what is not known is.
  bool add(const Candidate& candidate, double nanoseconds, const std::string& code);

  size_t size() const { return all_.size(); }
  /// 0 where there are none.
  double bestTime() const { return all_.empty() ? 0 : all_[0].nanoseconds; }
  std::span<const Timed> fastest(size_t count) const { return std::span(all_).first(std::min(count, all_.size())); }
  std::vector<Candidate> best(size_t count) const;
  /// So many at random of the fastest 16 times as many.
  Population some(size_t count, std::mt19937_64& random) const;

 private:
  std::vector<Timed> all_;
};

/// Spearman's coefficient of two rows of numbers: 1 where they rank alike, -1 where they do the opposite; 0 for less
/// than a dozen.
double rankAgreement(std::span<const double> a, std::span<const double> b);

}  // namespace svod
