// What computing a value again costs fusion, and what keeping it does.
#pragma once
#include <span>
#include <vector>

#include "schedule/fuse_uses.h"

namespace svod {

/// In cheap ops (work.h).
struct KeepOrFuse {
  double fuse = 0, keep = 0;
  bool isOnce = false;    // each element is computed once where it is read
  bool isCached = false;  // one kernel computes it again a few times, from operands that stay in cache
  bool isKeepCheaper = false;
};

class FusionCosts {
 public:
  explicit FusionCosts(size_t ids) : work_(ids) {}

  /// Arithmetic for one element of each value when everything below it, down to reductions, is computed in place.
  /// `order` is topological; by node id: what every kernel computes for itself, and what is kept for the size of its
  /// kernel.
  void measure(std::span<const UOp> order, const std::vector<bool>& isIndexMath, const std::vector<bool>& isCut);
  double ofElement(UOp n) const { return work_[n.id()]; }

  /// Computing the value where it is read, against storing and loading it.
  KeepOrFuse weigh(UOp n, const FusionUses& uses) const;

 private:
  std::vector<double> work_;  // by node id
};

}  // namespace svod
