// What stands for the values of a graph once some are in parts on devices (an internal header of the room).
#pragma once
#include <map>
#include <string>

#include "frontend/distributed_parts.h"

namespace svod::detail {

/// A node is added after its sources: as a node of one device, or in parts. Whoever needs the other gets it made, once.
class DistributedValues {
 public:
  struct Value {
    Layout layout;
    std::vector<UOp> parts;
  };

  explicit DistributedValues(Graph& graph) : g_(graph), whole_(graph.size()), isFree_(graph.size(), false) {}

  void add(UOp node, UOp whole);
  void add(UOp node, Value value);

  /// The parts of a node that was added in parts, else null.
  const Value* find(UOp node) const;
  /// Costs nothing where it is needed, since it reads nothing.
  bool isFree(UOp node) const { return isFree_[node.id()]; }

  /// On one device: where the node was made, or the host.
  UOp whole(UOp node);
  UOp joined(const Value& value, const std::string& device);
  /// The parts that lie so. What is on no device yet is copied there, but for movement, which its operand is copied
  /// before, and what no memory is read for.
  std::vector<UOp> demand(UOp node, const Layout& layout) { return demand(node, layout, 0); }
  /// Movement of parts; the value that a Pad fills with is whole for each.
  std::vector<UOp> moved(UOp node, std::vector<UOp> parts, const Layout& operand, const Layout& result);

 private:
  std::vector<UOp> demand(UOp node, const Layout& layout, int depth);
  std::vector<UOp> converted(const Value& have, const Layout& layout);
  UOp narrow(UOp x, const Layout& layout, size_t i);
  void noteFree(UOp node);

  Graph& g_;
  std::vector<UOp> whole_;            // by id of a node: what stands for it on one device, where it was made
  std::vector<bool> isFree_;          // by id
  std::map<uint32_t, Value> values_;  // by id
};

/// A value on another device.
UOp copiedTo(Graph& graph, UOp x, const std::string& device);

}  // namespace svod::detail
