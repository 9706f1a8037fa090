#include "facts/local_buffers.h"

#include <algorithm>

namespace svod {

bool isGated(UOp stage) {
  return std::ranges::any_of(toposort(stage.src(0)), [](UOp n) { return n.op() == Op::Load && n.srcCount() > 2; });
}

bool fillsStage(const KernelFacts& kernel, UOp range) {
  return std::ranges::any_of(kernel.nodes, [&](UOp n) { return n.op() == Op::Stage && n.dependsOn(range); });
}

}  // namespace svod
