// Where the values of a graph live while kernels are made for them: which buffer each has, and how it lies there.
#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>

#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "tensor/kernel_builder.h"
#include "tensor/node_names.h"

namespace svod {

inline bool isEmpty(UOp node) {
  return std::any_of(node.shape().begin(), node.shape().end(), [](UOp d) { return d.bounds().max <= 0; });
}
inline UOp skipReshapes(UOp node) {
  while (node.op() == Op::Reshape) node = node.src(0);
  return node;
}
/// The elements lie dense at their actual shape.
bool isGapless(const Storage& storage);

class StorageMap {
 public:
  /// Buffers for the ports, and for each of `nodes` that `fusion` keeps, in `schedule`, which has none before.
  StorageMap(const Model& model, std::span<const UOp> nodes, const Fusion& fusion, Schedule& schedule);

  /// Null for values without a buffer.
  const Storage* of(UOp node) const;
  void set(UOp node, Storage storage) { storage_.insert_or_assign(node.id(), std::move(storage)); }
  bool isKept(UOp n) const { return n.id() < fusion_.kept.size() && fusion_.kept[n.id()]; }
  /// Whether the value of a Store is computed directly into the target.
  bool isWrittenInPlace(UOp store) const { return writtenInPlace_.contains(store.id()); }

  /// A new buffer for all of a value: its elements lie dense at the sizes of the run.
  Storage temporary(UOp node);
  /// One that nobody reads from or writes to.
  int addTemporary(UOp node);
  static Storage denseAt(UOp node, int buffer);
  /// That of a port: packed where memory is shared with callers; a state, which outlives the sizes of a run, is strided
  /// for the greatest ones.
  Storage portLayout(UOp node, int port) const;
  std::string labelOf(UOp node) const { return std::string(labels_.of(node)); }

 private:
  void addPorts();
  void addOutputs(std::span<const UOp> nodes);
  void addValues(std::span<const UOp> nodes);

  const Model& model_;
  const Fusion& fusion_;
  Schedule& schedule_;
  NodeLabels labels_;
  std::map<uint32_t, Storage> storage_;  // by node id
  std::set<uint32_t> writtenInPlace_;    // ids of Stores
};

}  // namespace svod
