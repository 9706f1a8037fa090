// Relative costs of one element, the ops that decisions about a graph are weighed in: before any loop is chosen, they
// are all that is known of effort.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"
#include "tensor/parameters.h"

namespace svod {

using parameters::kOpCost, parameters::kDivideCost, parameters::kTranscendentalCost, parameters::kHashCost,
    parameters::kLoadCost, parameters::kStoreCost, parameters::kLaunch;

/// That of the op alone, its operands given.
inline double work(UOp node) {
  if (has(node.op(), Transcend) || node.op() == Op::Fmod) return kTranscendentalCost;
  switch (node.op()) {
    case Op::Fdiv:
    case Op::Recip:
    case Op::Sqrt:
    case Op::Cdiv:
    case Op::Cmod:
    case Op::Floordiv:
    case Op::Floormod: return kDivideCost;
    case Op::Cast:  // loads of narrow integers extend them
      return isInt(node.dtype()) && isInt(node.src(0).dtype()) && byteSize(node.src(0).dtype()) < byteSize(node.dtype())
                 ? 0
                 : kOpCost;
    case Op::Threefry: return kHashCost;
    default: return isElementwise(node.op()) ? kOpCost : 0;
  }
}

/// One more than the largest id of a node.
size_t idsBelow(std::span<const UOp> nodes);
/// By node id, below `size`: counters, sizes and cheap arithmetic on them. No memory is read, so every kernel computes
/// these for itself. `order` is topological.
std::vector<bool> indexMath(std::span<const UOp> order, size_t size);

/// A byte less a zero point that many bytes share.
bool isByteDistance(UOp node);
/// Some bits of a byte in memory, an element of less than a byte: shifted, masked or both.
bool isPartOfByte(UOp node);

}  // namespace svod
