// Builds the kernel of one value by pulling index expressions from its axes down to the storage it reads.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "tensor/kernel_memory.h"

namespace svod {

class KernelBuilder {
 public:
  using Rows = std::map<uint32_t, std::vector<int>>;
  /// `rows`: by id of a tensor node, the axes of which it is held in a local buffer. `storedAt` returns the storage of
  /// a tensor node, or nullptr when it is computed in place.
  KernelBuilder(Graph& graph, Counters& counters, Rows rows, std::function<const Storage*(UOp)> storedAt)
      : g_(graph), memory_(graph, counters), rows_(std::move(rows)), storedAt_(std::move(storedAt)) {}

  /// A range per axis of `shape` (tensor dims); axes of one element get the constant 0.
  IndexList openRanges(std::span<const UOp> shape, AxisType type);
  /// The element of `node` at `index`. Where `gate` is false nothing is read and the result does not matter.
  UOp value(UOp node, std::span<const UOp> index, UOp gate);
  /// The element of `node`, read although it has storage (the root of its own kernel).
  UOp computedValue(UOp node, std::span<const UOp> index, UOp gate);
  /// end(store, ranges that are real loops), under a sink.
  UOp finish(UOp store, std::span<const UOp> ranges);

  /// What the kernel reads, and where results can be stored.
  KernelMemory& memory() { return memory_; }

 private:
  /// An element of a value that is held in rows: its row is filled where the other axes are open.
  UOp rowElement(UOp node, const std::vector<int>& axes, std::span<const UOp> index, UOp gate);
  UOp elementwise(UOp node, std::span<const UOp> index, UOp gate);
  UOp moved(UOp node, std::span<const UOp> index, UOp gate);
  UOp reduced(UOp node, std::span<const UOp> index, UOp gate);
  UOp gathered(UOp node, std::span<const UOp> index, UOp gate);
  UOp stacked(UOp node, std::span<const UOp> index, UOp gate);

  Graph& g_;
  KernelMemory memory_;
  Rows rows_;
  std::function<const Storage*(UOp)> storedAt_;
  std::map<std::vector<uint32_t>, UOp> memo_;
  struct Row {
    UOp fill;
    IndexList ranges;
  };
  std::map<std::vector<uint32_t>, Row> filled_;  // by what computedValue would be asked for
  uint32_t nextRange_ = 0, nextBuffer_ = 0;
};

/// Element index of a tensor, guarded: `inside` is null when the bounds prove it needs no check.
struct DataIndex {
  UOp value, inside;
};
DataIndex dataIndex(Graph& graph, UOp value, UOp extent);

}  // namespace svod
