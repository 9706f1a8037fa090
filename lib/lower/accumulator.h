// Reductions over loops as accumulators: registers that are updated in every iteration.
#pragma once
#include <functional>
#include <span>

#include "ir/graph.h"

namespace svod {

struct AccumulatorType {
  DType dtype;
  int64_t lanes;
};

/// acc = start; for loops: acc = fold(acc); the value of acc afterwards. `values` are what `fold` adds, `slot` names
/// the register.
UOp accumulate(Graph& graph, uint32_t slot, AccumulatorType type, UOp start, std::span<const UOp> loops,
               std::span<const UOp> values, const std::function<UOp(UOp)>& fold);

}  // namespace svod
