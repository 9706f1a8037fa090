// A rough cost of a kernel from its loops and strides alone: good enough to choose axes and tile counts.
#pragma once
#include <vector>

#include "facts/accesses.h"
#include "facts/caps.h"
#include "facts/kernel_facts.h"
#include "ir/graph.h"

namespace svod {

/// Costs of one kernel, whose facts it borrows. Symbolic extents count with their maximum.
class CostModel {
 public:
  CostModel(const KernelFacts& kernel, const Caps& caps);

  /// Instructions executed in all when the loops of `lanes` are vectorized: a vector instruction counts once,
  /// an access whose neighbours are not neighbours in memory once per lane. The load `packed` reads from a
  /// panel where they are, after a copy of each of its elements.
  double instructions(std::span<const Lanes> lanes, const Access* packed = nullptr) const;
  /// The same with the vector axes that the kernel has.
  double instructions() const { return instructions(lanes_); }
  /// Lanes of the widest value that depends on `range` in a vector register; 2 to 64.
  int64_t fullWidth(UOp range) const;
  /// Widths worth trying on a loop: full vectors, and narrower ones for short loops or to avoid a masked remainder.
  std::vector<int64_t> widths(UOp range) const;

 private:
  struct Item {
    UOp node;
    double weight;         // cost of one execution
    const Access* access;  // of a load or store
  };
  double cost(const Item& item, std::span<const Lanes> lanes, bool packed) const;

  const Caps& caps_;
  const LoopsOf& loops_;
  const std::vector<Lanes>& lanes_;
  std::vector<Item> items_;
};

/// The counter that `condition` compares with a constant; null for any other condition.
UOp caseCounter(UOp condition);

/// Cost of one execution of an op, an addition being 1; 0 for what costs nothing (constants, addresses).
double opWeight(UOp node);

/// Arithmetic that every iteration of `range` does although it uses the result in some only.
double selectedWork(const KernelFacts& kernel, UOp range);

/// Estimated nanoseconds for a number of instructions on one thread.
double nanoseconds(double instructions);

}  // namespace svod
