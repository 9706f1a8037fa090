// The loops of a kernel: which loop each node stands in (an internal header of the room).
#pragma once
#include <map>
#include <vector>

#include "ir/graph.h"
#include "support/result.h"

namespace svod {

/// Loop 0 is the function body; every other loop belongs to one Range and its End.
class ScopeTree {
 public:
  /// Of a sink whose Ends close one range each. Errors are defects of the compiler: ranges that two Ends close, loops
  /// that do not nest.
  static Result<ScopeTree> of(UOp sink);

  std::span<const UOp> nodes() const { return nodes_; }  // sources first
  const std::vector<size_t>& itemsOf(size_t loop) const { return loops_[loop].items; }
  size_t positionOf(UOp node) const { return positionOf_[node.id()]; }
  size_t loopOf(UOp range) const { return loopOfRange_[range.id()]; }
  /// The innermost loop around node `i`.
  size_t homeOf(size_t i) const { return home_[i]; }
  /// The item of `loop` that contains node `i`: itself, or the End of the inner loop around it.
  size_t itemIn(size_t loop, size_t i) const;
  /// Nodes homed in `loop` or in loops inside it.
  std::vector<size_t> nodesInside(size_t loop) const;

 private:
  struct Loop {
    UOp range, end;
    size_t parent = 0, depth = 0;
    std::vector<size_t> items;  // positions in the node list, of nodes and of the Ends of inner loops
  };

  explicit ScopeTree(UOp sink);
  Status findLoops();
  void keepInLoops();
  std::vector<UOp> rangesAround(UOp node) const;
  void openLoop(UOp end);
  size_t innermost(UOp node) const;
  bool isAncestor(size_t outer, size_t inner) const;
  Status findHomes();

  std::vector<UOp> nodes_;
  std::vector<size_t> positionOf_, loopOfRange_, home_;
  std::map<uint32_t, UOp> endOfRange_;    // by range id
  std::vector<std::vector<UOp>> heldIn_;  // by node id: ranges it does not depend on
  std::vector<Loop> loops_;
};

}  // namespace svod
