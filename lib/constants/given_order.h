// Weights in the order of another kernel: what two kernels read in one order is stored once.
#pragma once
#include <optional>

#include "constants/constant_layout.h"

namespace svod {

/// Kernel stage: the kernel reading parameter `order.slot` in this order, whose counters are digits of the address.
/// Nothing where it is not read as `readingOrder` needs it, for an order that is not made of such digits or has
/// elements twice, where addresses of lanes or loops of a sum would be divided, and where lanes would be no
/// neighbours.
std::optional<UOp> readInOrder(Graph& graph, UOp sink, const ConstantLayout& order);

}  // namespace svod
