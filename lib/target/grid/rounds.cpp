#include "target/grid/rounds.h"

#include <algorithm>

#include "ir/local_memory.h"

namespace svod {

namespace {

int64_t meetingsIn(const LinearKernel& kernel, UOp range) {
  return std::ranges::count_if(kernel.ops, [&](UOp n) { return n.op() == Op::Barrier && n.dependsOn(range); });
}

bool isClamp(UOp n) {
  if (!isInt(n.dtype())) return false;
  if (n.op() == Op::Max || n.op() == Op::Min) return true;
  if (n.op() != Op::Where || n.src(0).srcCount() != 2) return false;
  const UOp a = n.src(0).src(0), b = n.src(0).src(1);
  return (n.src(1) == a && n.src(2) == b) || (n.src(1) == b && n.src(2) == a);
}

/// Whether an integer in the loop is a maximum or a minimum. ptxas 13.0 and 13.2 write such loops out for sm_90 and
/// get the constants of some of them wrong: of max(2 - 1, 0) they make a VIADDMNMX of 1 - 2 and 0.
bool hasClampIn(const LinearKernel& kernel, UOp range) {
  return std::ranges::any_of(kernel.ops, [&](UOp n) { return isClamp(n) && n.dependsOn(range); });
}

/// Rounds after which a ring is back at its first stage: written out, they have constants where stages are.
int64_t turnsOf(const LinearKernel& kernel, UOp range) {
  int64_t turns = 1;
  for (UOp n : kernel.ops) {
    if (n.srcCount() != 2 || n.src(0) != range || !n.src(1).isConst() || !isInt(n.dtype())) continue;
    const int64_t by = n.src(1).constInt();
    const bool isOfRing = n.op() == Op::And || n.op() == Op::Floormod || n.op() == Op::Cmod;
    if (isOfRing && by > kMostStages) return 1;
    if (isOfRing) turns = std::max(turns, n.op() == Op::And ? by + 1 : by);
  }
  return turns <= kMostStages ? turns : 1;
}

}  // namespace

// In rounds that threads start together the next copies are under way: more of them at once would only be long.
int64_t roundsOf(const LinearKernel& kernel, UOp range) {
  const int64_t meetings = meetingsIn(kernel, range);
  if (meetings > 0) return meetings == 1 ? turnsOf(kernel, range) : 1;
  return hasClampIn(kernel, range) ? 1 : 0;
}

}  // namespace svod
