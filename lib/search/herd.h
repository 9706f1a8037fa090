// Lists that were timed, fastest first. Lists with one code are there once, as the shortest of them.
#pragma once
#include <random>
#include <span>
#include <vector>

#include "search/measure.h"

namespace svod {

struct Timed {
  Candidate candidate;
  double nanoseconds;
};

class Herd {
 public:
  /// Whether its code is new: lists with one code have one time, to the bit.
  bool add(const Candidate& candidate, double nanoseconds);

  size_t size() const { return all_.size(); }
  /// 0 where there are none.
  double bestTime() const { return all_.empty() ? 0 : all_[0].nanoseconds; }
  std::span<const Timed> fastest(size_t count) const { return std::span(all_).first(std::min(count, all_.size())); }
  std::vector<Candidate> best(size_t count) const;
  /// So many of those that are not the best, and are no failures of their kind either.
  Herd some(size_t count, std::mt19937_64& random) const;

 private:
  std::vector<Timed> all_;
};

/// Spearman's coefficient of two rows of numbers: 1 where they rank alike, -1 where they do the opposite; 0 for less
/// than a dozen.
double rankAgreement(std::span<const double> a, std::span<const double> b);

}  // namespace svod
