// How often each node of a kernel runs.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// For each node id of a kernel, the loops it runs in, outermost first: a value sits in the innermost loop
/// it depends on, inside all loops around that one. The grid and the threads of a workgroup are around all loops.
class LoopsOf {
 public:
  /// `nodes`: in the order of toposort().
  explicit LoopsOf(std::span<const UOp> nodes);
  std::span<const UOp> operator[](UOp node) const { return loops_[placeOf_[node.id()]]; }

 private:
  void enter(UOp user, UOp node);

  std::vector<uint32_t> placeOf_;        // by node id: most nodes of a graph are of other kernels
  std::vector<std::vector<UOp>> loops_;  // by place
};

}  // namespace svod
