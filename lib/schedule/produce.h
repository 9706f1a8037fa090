// The items of producers: for each value that is kept, and each store, the kernels, copies and calls that make it.
#pragma once
#include <memory>
#include <set>

#include "schedule/producer.h"
#include "schedule/storage_map.h"
#include "tensor/loops.h"

namespace svod {

class ItemMaker {
 public:
  /// Adds kernels and temporaries to `schedule`.
  ItemMaker(Model& model, const Fusion& fusion, StorageMap& storage, Counters& counters, Schedule& schedule)
      : model_(model), fusion_(fusion), storage_(storage), counters_(counters), schedule_(schedule) {}

  /// The producers of a graph whose `nodes` are in topological order. `snapshots`: ids of contents of states that are
  /// copied before they are overwritten.
  std::vector<Producer> run(std::span<const UOp> nodes, const std::set<uint32_t>& snapshots) &&;

 private:
  /// A temporary that calls wait for, and whose elements nothing reads.
  bool isNeverRead(UOp content) const;
  Producer& producer(UOp node);
  KernelBuilder builderFor(Graph& graph);
  void produceSnapshot(UOp state);
  void produceStore(UOp store);
  void producePacked(Producer& p, const Storage& own);
  void produceThroughTemporary(Producer& p, const Storage& own);
  void produceScatter(UOp node);
  void produceHostCall(UOp node);
  int denseBuffer(Producer& p, UOp value);
  /// A producer whose one kernel writes all elements of `value` to `to`.
  void produceElements(UOp node, const Storage& to, UOp value);
  void produceTransfer(UOp copy);
  /// A launch of the kernel that writes all elements of `value` to `to`: computed where it is what `p` produces, else
  /// read where they lie.
  void addElements(Producer& p, UOp value, const Storage& to, UOp named);
  void addLaunch(Producer& p, std::unique_ptr<Graph> graph, UOp sink, KernelBuilder& builder, UOp named);
  void addCopy(Producer& p, UOp from, int to, UOp named);

  Model& model_;
  const Fusion& fusion_;
  StorageMap& storage_;
  Counters& counters_;
  Schedule& schedule_;
  std::map<Hash128, int> kernelOf_;
  std::set<uint32_t> inUse_;  // ids of buffers
  std::vector<Producer> producers_;
};

}  // namespace svod
