#include "driver/launched.h"

#include <algorithm>

namespace svod {

std::vector<UOp> launchedIn(UOp lowered) {
  std::vector<UOp> all;
  for (UOp n : toposort(lowered))
    if (n.op() == Op::Special || (n.op() == Op::Range && n.argAs<AxisArg>().type == AxisType::Thread)) all.push_back(n);
  return all;
}

UOp launchSize(UOp node, std::span<const UOp> launched) {
  const auto was = std::ranges::find_if(launched, [&](UOp n) { return n.op() == node.op() && n.arg() == node.arg(); });
  return (was == launched.end() ? node : *was).src(0);
}

}  // namespace svod
