// Sizes that a run computes, such as how many elements of a mask hold. While a graph is built such a length is a
// variable like any other: shapes, checks and every op treat it as one. Before the model leaves the builder, storage
// gets room for the largest case, and what depends on how much of it is filled is said with the count itself.
#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "frontend/tensor.h"

namespace svod {

struct Length {
  UOp variable;             // stands for the length in dims
  UOp count;                // the i64 scalar that it is in a run
  Dim room;                 // it is from 0 to this, which may have lengths itself
  std::vector<UOp> ranges;  // the loops it is computed in
};

/// Lengths by id of their variable.
using Lengths = std::map<uint32_t, Length>;

/// The lengths in a dim.
std::vector<const Length*> lengthsIn(const Lengths& lengths, UOp dim);

/// Rebuilds nodes without lengths. The value of a node keeps its elements inside of its dims; what stands behind them,
/// up to the room of every axis, means nothing. Errors are recorded in the builder.
class Rooms {
 public:
  Rooms(GraphBuilder& b, const Lengths& lengths) : b_(b), lengths_(lengths) {}
  /// The node that takes the place of this one; null after an error.
  UOp of(UOp node);
  /// The largest that a dim can be, without lengths; to be asked for dims of nodes that were rebuilt.
  Dim room(UOp dim);
  /// Whether the node was asked for, itself or for others; and whether it stays as it is.
  bool knows(UOp node) const { return known_.contains(node.id()); }
  bool keeps(UOp node) const;

 private:
  struct Bounds {
    Dim low, high;
  };
  bool has(UOp dim);
  bool hasAny(std::span<const UOp> dims);
  bool isInvolved(UOp node);
  std::vector<UOp> needs(UOp node);
  UOp rebuilt(UOp node);
  UOp withRooms(UOp node);
  UOp lowered(UOp node);

  Bounds bounds(UOp dim);
  Dims rooms(std::span<const UOp> dims);
  Tensor value(UOp node);  // in the place of a node
  Tensor number(UOp dim);  // what a dim is in a run, an i64 scalar
  Tensor position(const Dims& rooms, int axis);
  Tensor isInside(const Dims& rooms, int axis, UOp dim);
  Tensor fitted(Tensor x, const Dims& rooms);

  Tensor elementwise(UOp node);
  Tensor reshaped(UOp node);
  Tensor renumbered(UOp node);
  Tensor padded(UOp node);
  Tensor shrunk(UOp node);
  Tensor flipped(UOp node);
  Tensor reduced(UOp node);
  Tensor gathered(UOp node);
  Tensor scattered(UOp node);
  Tensor readAt(UOp node, const std::vector<Tensor>& positions);
  bool checkTarget(UOp target);

  GraphBuilder& b_;
  const Lengths& lengths_;
  std::unordered_map<uint32_t, UOp> known_;
  std::unordered_map<uint32_t, bool> has_;
};

}  // namespace svod
