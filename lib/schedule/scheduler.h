// The working state of make-kernels: producers, their kernels and their order.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "schedule/fuse.h"
#include "schedule/schedule.h"
#include "tensor/kernel_builder.h"
#include "tensor/node_names.h"
#include "tensor/nodes.h"

namespace svod {

/// One value that is written by items of its own: a materialized node, or a Store of the tensor graph.
struct Producer {
  UOp node;
  std::vector<ScheduleItem> items;
  std::vector<UOp> reads;  // storage nodes read by any of the items
};

inline bool isEmpty(UOp node) {
  return std::any_of(node.shape().begin(), node.shape().end(), [](UOp d) { return d.bounds().max <= 0; });
}
inline UOp skipReshapes(UOp node) {
  while (node.op() == Op::Reshape) node = node.src(0);
  return node;
}
/// Buffers of the instance keep one layout whatever their actual shape is.
inline bool isInternal(PortKind kind) { return kind == PortKind::State || kind == PortKind::Temporary; }
/// The elements lie dense at their actual shape.
bool isGapless(const Storage& storage);

class Elements;
class ReadOrder;

class Scheduler {
 public:
  /// Kernels for the values of the graph below `sink` that `fusion` keeps.
  Scheduler(Model& model, UOp sink, const Fusion& fusion);
  Result<Schedule> run();

 private:
  Status produceAll();
  void assignStorage();
  int addTemporary(UOp node);
  /// `dense`: at its actual dims, as callers bind it; else strided for the largest.
  Storage layoutOf(UOp node, int buffer, bool dense) const;
  /// That of a port: packed where memory is shared with callers.
  Storage portLayout(UOp node, int port) const;
  void addStorage(UOp node, int buffer, bool dense);
  const Storage* storageOf(UOp node) const;
  std::set<uint32_t> hostValues() const;
  bool isMaterialized(UOp n) const { return n.id() < fusion_.materialized.size() && fusion_.materialized[n.id()]; }

  Producer& producer(UOp node);
  KernelBuilder builderFor(Graph& graph);
  void produceValue(UOp node);
  void produceSnapshot(UOp state);
  void produceStore(UOp store);
  void producePacked(Producer& p, const Storage& own);
  void produceThroughTemporary(Producer& p, const Storage& own);
  void produceScatter(UOp node);
  void produceHostCall(UOp node);
  int denseBuffer(Producer& p, UOp value);
  /// Kernel that writes `node` element by element into `storage`.
  void produceElements(UOp node, const Storage& storage, UOp valueNode);
  void addLaunch(Producer& p, std::unique_ptr<Graph> graph, UOp sink, KernelBuilder& builder, UOp named);
  void addCopy(Producer& p, UOp from, int to, UOp named);
  bool isPlainCopy(UOp store) const;

  /// All items in order, or nothing after adding to snapshots_.
  Result<std::vector<ScheduleItem>> order();
  /// What must come before what. False after adding to snapshots_.
  bool constrain(Elements& elements, ReadOrder& reads);
  bool keepContents(int stuckIn, Elements& elements, ReadOrder& reads);
  /// The items of a body (-1: outside of loops), or the body that has no order.
  std::optional<int> appendBody(int loop, Elements& elements, std::vector<ScheduleItem>& items);
  ScheduleItem loopItem(int loop);
  std::string labelOf(UOp node) const { return svod::labelOf(model_, labels_, node); }

  Model& model_;
  Schedule schedule_;
  Counters counters_;
  std::vector<UOp> nodes_;  // toposort of the sink
  LoopTree loops_;
  std::map<uint32_t, std::string> labels_;  // by node id
  const Fusion& fusion_;
  std::map<uint32_t, Storage> storage_;  // by node id
  std::set<uint32_t> writtenInPlace_;    // Stores whose value is computed directly into the target
  std::set<uint32_t> snapshots_;         // states copied before they are overwritten
  std::map<Hash128, int> kernelOf_;
  std::vector<Producer> producers_;
};

}  // namespace svod
