// Sizes of a run for which a choice is made and priced: a kernel of free sizes is as good as it is at these.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "choose/choice.h"
#include "facts/caps.h"
#include "ir/graph.h"

namespace svod {

/// One value for each of the variables, and how much it counts among the points.
struct SizePoint {
  std::vector<int64_t> sizes;
  double weight;
  bool isPricedOnly = false;  // nothing is chosen for it
  bool isForCase = false;     // few rows of a product: what is chosen for them has a kernel of its own
};

/// The variables that extents of loops depend on, and the points: the likely sizes, small ones, and a multiple of the
/// likely ones, but for those at which a loop has no iteration. Products have points of a few rows as well. None where
/// no extent depends on a variable.
class SizePoints {
 public:
  explicit SizePoints(UOp sink, const Caps& caps = {});

  std::span<const SizePoint> all() const { return points_; }
  /// The one whose sizes are a multiple of the likely ones, as far as bounds allow it; it may be the first.
  const SizePoint& larger() const { return points_[larger_]; }
  /// Of all points that the kernel of all sizes is priced at: those of few rows are not, where there are others.
  double weight() const;
  /// By variable: the share `part` of the way from its size at one point to that at another, by factors. Nothing where
  /// the kernel stores nothing at these sizes.
  std::optional<std::vector<int64_t>> between(const SizePoint& from, const SizePoint& to, double part) const;
  /// The sizes on this side of `sizes`, for which `point` stands; those that are the same at `other` have no limits.
  std::vector<SizeLimits> limits(const SizePoint& point, const SizePoint& other, std::span<const int64_t> sizes) const;
  /// The kernel as if variables were never above their sizes at the point; one that has its least value there is that
  /// number. Loops keep their identity.
  UOp upTo(Graph& graph, UOp sink, const SizePoint& point) const;
  /// The kernel as if variables were these numbers.
  UOp at(Graph& graph, UOp sink, std::span<const int64_t> sizes) const;
  /// Whether all loops around stores have iterations.
  bool doesRun(std::span<const int64_t> sizes) const;
  /// "batch = 1, length = 64".
  std::string toText(const SizePoint& point) const;

 private:
  /// The number of the point with these sizes; 0, and nothing is added, where the kernel stores nothing for them.
  size_t add(std::vector<int64_t> sizes, double weight);
  bool hasRowsOfProduct(UOp sink) const;
  void addFewRows(bool hasWeights);

  std::vector<UOp> variables_, extents_;
  std::vector<SizePoint> points_;
  size_t larger_ = 0;
};

}  // namespace svod
