// The arguments of a kernel that is built: where elements of the tensor graph's storages are, loads and stores.
#pragma once
#include <span>
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
  int64_t room =
      INT64_MAX;  // elements of the buffer, where that is of dims that are equal to these but bounded tighter
};

class KernelMemory {
 public:
  KernelMemory(Graph& graph, Counters& counters) : g_(graph), counters_(counters) {}

  /// Where the element at `index` of `target` is, which is `base.node` or a view of it. It is there under `gate`, or
  /// always if that is null.
  struct GatedAddress {
    UOp address, gate;
  };
  GatedAddress addressOf(UOp target, std::span<const UOp> index, const Storage& base);
  UOp addressIn(const Storage& storage, std::span<const UOp> index);
  /// store(address, value, gate), the value in the form that memory holds. Where `gate` is false nothing is stored.
  UOp storeAt(UOp address, UOp value, UOp gate = {});
  /// The element at `index`, as a value. Where `gate` is false nothing is read.
  UOp load(const Storage& storage, std::span<const UOp> index, UOp gate);

  /// A dim, counter or constant of the tensor graph in the kernel's graph.
  UOp import(UOp dim);
  IndexList imported(std::span<const UOp> dims);

  /// Buffers by Param slot, and which tensor nodes were read.
  const std::vector<int>& args() const { return args_; }
  const std::vector<UOp>& reads() const { return reads_; }

 private:
  UOp param(const Storage& storage);
  UOp loadAt(UOp address, UOp gate);

  Graph& g_;
  Counters& counters_;
  std::vector<int> args_;
  std::vector<UOp> reads_;
};

}  // namespace svod
