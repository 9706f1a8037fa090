#include "ir/ranges.h"

#include <algorithm>

namespace svod {

uint32_t nextRangeId(UOp root) {
  uint32_t next = 0;
  for (UOp n : toposort(root))
    if (n.op() == Op::Range) next = std::max(next, n.argAs<AxisArg>().id + 1);
  return next;
}

}  // namespace svod
