#include "facts/local_buffers.h"

#include <algorithm>

namespace svod {

int64_t stageBytes(UOp stage) {
  int64_t bytes = 0;
  return __builtin_mul_overflow(stage.maxNumel(), byteSize(stage.dtype()), &bytes) ? INT64_MAX : bytes;
}

int64_t bytesOfStages(const KernelFacts& kernel) {
  int64_t bytes = 0;
  for (UOp stage : kernel.stages) bytes += stageBytes(stage);
  return bytes;
}

bool isGated(UOp stage) {
  return std::ranges::any_of(toposort(stage.src(0)), [](UOp n) { return n.op() == Op::Load && n.srcCount() > 2; });
}

bool fillsStage(const KernelFacts& kernel, UOp range) {
  return std::ranges::any_of(kernel.nodes, [&](UOp n) { return n.op() == Op::Stage && n.dependsOn(range); });
}

std::optional<int64_t> strideInStage(const KernelFacts& kernel, UOp axis) {
  for (const Access& a : kernel.accesses)
    if (!a.slot) return strideOf(a, axis);
  return std::nullopt;
}

}  // namespace svod
