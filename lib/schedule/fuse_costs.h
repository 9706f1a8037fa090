// What computing a value again costs fusion, and what keeping it does.
#pragma once
#include <span>
#include <vector>

#include "schedule/element_dag.h"
#include "schedule/fuse_uses.h"
#include "tensor/nodes.h"

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
  /// `order` has all nodes. By node id: what every kernel computes for itself, and what is kept for the size of its
  /// kernel.
  FusionCosts(std::span<const UOp> order, ElementDag& dag, const std::vector<bool>& isIndexMath,
              const std::vector<bool>& isCut)
      : readers_(order), dag_(dag), isIndexMath_(isIndexMath), isCut_(isCut), elements_(isCut.size()) {}

  /// What is cut has changed.
  void forget() { elements_.assign(elements_.size(), {}); }

  /// Arithmetic for one element of a value when everything below it, down to reductions, is computed in place.
  double ofElement(UOp n) { return elementOf(n).work; }

  /// Whether `weigh` would find isOnce without the price of an element: one place reads it, each element once.
  static bool isPlainlyOnce(UOp n, const FusionUses& uses);
  /// Computing the value where it is read, against storing and loading it.
  KeepOrFuse weigh(UOp n, const FusionUses& uses);

 private:
  struct Element {
    double work = -1;            // negative: not known yet
    bool endsReduction = false;  // nothing else reads some reduction, so that either of the two is kept
  };
  const Element& elementOf(UOp n);
  /// Of the DAG found last: it reads each element of some reduction once, and nothing else reads that.
  bool endsReduction() const;

  const Readers readers_;
  ElementDag& dag_;
  const std::vector<bool>&isIndexMath_, &isCut_;
  std::vector<Element> elements_;  // by node id
};

}  // namespace svod
