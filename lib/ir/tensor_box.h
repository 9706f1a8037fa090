// Copies of tiles as boxes of tensors, which bulk copies take.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "ir/bulk_tensor.h"
#include "ir/graph.h"

namespace svod {

/// A box of a parameter, dims innermost first, at coordinates that are sums of what the loops of the copy leave alone.
struct TensorBox {
  struct Term {
    UOp value;
    int64_t times = 1;
    bool operator==(const Term&) const = default;
  };
  struct Coordinate {
    std::vector<Term> terms;
    int64_t constant = 0;
  };
  struct Extent {
    UOp of;  // a sum of variables, or null
    int64_t more = 0;
    int64_t most() const { return (of ? of.bounds().max : 0) + more; }
  };
  UOp param;
  std::vector<int64_t> strides, box;  // as in a BulkTensor
  std::vector<Extent> extents;
  std::vector<Coordinate> at;
  int64_t bytes = 0;  // of the box
};

/// The box that a store to a local buffer copies, element by element along `loops`, the outermost first. Nothing where
/// no bulk copy does it: elements that are computed, or gated by more than where dims end, in another order than that
/// of the loops, rows that are no neighbours or not as long as their swizzle, boxes that are no multiple of 1024 bytes.
/// Kernel and Lowered stage.
std::optional<TensorBox> boxOf(UOp store, std::span<const UOp> loops);

/// Whether one address of the parameter is all there is: the map of a bulk copy stands in its place.
bool isUsedOnce(UOp sink, UOp param);

}  // namespace svod
