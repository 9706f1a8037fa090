// Builds the kernel of one value by pulling index expressions from its axes down to the storage it reads.
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "ir/model.h"
#include "tensor/loops.h"
#include "tensor/movement.h"

namespace svod {

/// A place elements are read from or written to.
struct Storage {
  UOp node;               // of the tensor graph: Buffer, After or a kept value
  int buffer;             // position in Schedule::buffers
  std::vector<UOp> dims;  // row-major layout, in the tensor graph
  bool packed = false;    // elements share bytes: the memory of a port of a packed dtype
};

class KernelBuilder {
 public:
  using Rows = std::map<uint32_t, std::vector<int>>;
  /// `rows`: by id of a tensor node, the axes of which it is held in a local buffer. `storedAt` returns the storage of
  /// a tensor node, or nullptr when it is computed in place.
  KernelBuilder(Graph& graph, Counters& counters, Rows rows, std::function<const Storage*(UOp)> storedAt)
      : g_(graph), counters_(counters), rows_(std::move(rows)), storedAt_(std::move(storedAt)) {}

  /// A range per axis of `shape` (tensor dims); axes of one element get the constant 0.
  IndexList openRanges(std::span<const UOp> shape, AxisType type);
  /// The element of `node` at `index`. Where `gate` is false nothing is read and the result does not matter.
  UOp value(UOp node, std::span<const UOp> index, UOp gate);
  /// The element of `node`, read although it has storage (the root of its own kernel).
  UOp computedValue(UOp node, std::span<const UOp> index, UOp gate);
  /// Where the element at `index` of `target` is, which is `base.node` or a view of it. It is there under `gate`, or
  /// always if that is null.
  struct GatedAddress {
    UOp address, gate;
  };
  GatedAddress addressOf(UOp target, std::span<const UOp> index, const Storage& base);
  UOp addressIn(const Storage& storage, std::span<const UOp> index);
  /// store(address, value, gate), the value in the form that memory holds. Where `gate` is false nothing is stored.
  UOp storeAt(UOp address, UOp value, UOp gate = {});
  /// end(store, ranges that are real loops), under a sink.
  UOp finish(UOp store, std::span<const UOp> ranges);

  /// Buffers by Param slot, and which tensor nodes were read.
  const std::vector<int>& args() const { return args_; }
  const std::vector<UOp>& reads() const { return reads_; }
  UOp import(UOp dim);  // a dim, counter or constant of the tensor graph in the kernel's graph

 private:
  /// An element of a value that is held in rows: its row is filled where the other axes are open.
  UOp rowElement(UOp node, const std::vector<int>& axes, std::span<const UOp> index, UOp gate);
  UOp load(const Storage& storage, std::span<const UOp> index, UOp gate);
  UOp loadAt(UOp address, UOp gate);
  UOp elementwise(UOp node, std::span<const UOp> index, UOp gate);
  UOp moved(UOp node, std::span<const UOp> index, UOp gate);
  UOp reduced(UOp node, std::span<const UOp> index, UOp gate);
  UOp gathered(UOp node, std::span<const UOp> index, UOp gate);
  UOp stacked(UOp node, std::span<const UOp> index, UOp gate);
  UOp param(const Storage& storage);
  IndexList imported(std::span<const UOp> dims);

  Graph& g_;
  Counters& counters_;
  Rows rows_;
  std::function<const Storage*(UOp)> storedAt_;
  std::map<std::vector<uint32_t>, UOp> memo_;
  struct Row {
    UOp fill;
    IndexList ranges;
  };
  std::map<std::vector<uint32_t>, Row> filled_;  // by what computedValue would be asked for
  std::vector<int> args_;
  std::vector<UOp> reads_;
  uint32_t nextRange_ = 0, nextBuffer_ = 0;
};

/// Element index of a tensor, guarded: `inside` is null when the bounds prove it needs no check.
struct DataIndex {
  UOp value, inside;
};
DataIndex dataIndex(Graph& graph, UOp value, UOp extent);

}  // namespace svod
