// What stands below a node of a graph of tensors, and who reads it.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// True for nodes that are storage or always have a buffer of their own.
inline bool isStorage(UOp node) { return node.op() == Op::Buffer || node.op() == Op::After; }

/// What `node` is a view of, below all movement ops.
inline UOp belowMovement(UOp node) {
  while (isMovement(node.op())) node = node.src(0);
  return node;
}

/// What `node` is an arrangement of: below the movement ops that keep every element.
inline UOp belowArrangement(UOp node) {
  while (node.op() == Op::Reshape || node.op() == Op::Expand || node.op() == Op::Permute) node = node.src(0);
  return node;
}

/// Who reads the values of a graph. Nodes made later have no readers.
class Readers {
 public:
  /// `order` is topological.
  explicit Readers(std::span<const UOp> order);
  /// How often `node` is an operand; twice of one that takes it twice.
  int count(UOp node) const { return node.id() < entries_.size() ? entries_[node.id()].count : 0; }
  /// The one node that reads `node`, or null.
  UOp only(UOp node) const { return node.id() < entries_.size() ? entries_[node.id()].only : UOp(); }

 private:
  struct Entry {
    int count = 0;
    UOp only;  // null: none or several
  };
  std::vector<Entry> entries_;  // by node id
};

}  // namespace svod
