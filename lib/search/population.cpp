#include "search/population.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace svod {

namespace {

/// Equal numbers have the mean of their ranks.
std::vector<double> ranksOf(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    for (end = first + 1; end < order.size() && values[order[end]] == values[order[first]];) ++end;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
  }
  return ranks;
}

}  // namespace

bool Population::add(const Candidate& candidate, double nanoseconds, const std::string& code) {
  const auto twin = code.empty() ? all_.end() : std::ranges::find(all_, code, &Timed::code);
  if (twin == all_.end()) {
    all_.insert(std::ranges::upper_bound(all_, nanoseconds, {}, &Timed::nanoseconds), {candidate, nanoseconds, code});
    return true;
  }
  if (candidate.opts.size() < twin->candidate.opts.size()) twin->candidate = candidate;
  return false;
}

std::vector<Candidate> Population::best(size_t count) const {
  std::vector<Candidate> candidates;
  for (const Timed& timed : fastest(count)) candidates.push_back(timed.candidate);
  return candidates;
}

Population Population::some(size_t count, std::mt19937_64& random) const {
  constexpr size_t kReach = 16;
  const std::span<const Timed> near = fastest(kReach * count);
  Population others;
  others.all_.assign(near.begin(), near.end());
  std::ranges::shuffle(others.all_, random);
  if (others.all_.size() > count)
    others.all_.erase(others.all_.begin() + static_cast<int64_t>(count), others.all_.end());
  std::ranges::stable_sort(others.all_, {}, &Timed::nanoseconds);
  return others;
}

double rankAgreement(std::span<const double> a, std::span<const double> b) {
  constexpr size_t kLeast = 12;
  if (a.size() < kLeast) return 0;
  const std::vector<double> one = ranksOf(a), other = ranksOf(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double product = 0, ones = 0, others = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += (one[i] - mean) * (other[i] - mean);
    ones += (one[i] - mean) * (one[i] - mean), others += (other[i] - mean) * (other[i] - mean);
  }
  return ones > 0 && others > 0 ? product / std::sqrt(ones * others) : 0;
}

}  // namespace svod
