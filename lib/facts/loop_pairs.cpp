#include "facts/loop_pairs.h"

#include <algorithm>

#include "facts/steps.h"

namespace svod {

namespace {

// Whether a or b is used for anything but addresses of parameters.
bool countersAreValues(UOp sink, UOp a, UOp b) {
  std::vector<bool> seen;
  std::vector<UOp> stack{sink};
  while (!stack.empty()) {
    UOp n = stack.back();
    stack.pop_back();
    if (n.id() < seen.size() && seen[n.id()]) continue;
    if (n.id() >= seen.size()) seen.resize(n.id() + 1);
    seen[n.id()] = true;
    if (n == a || n == b) return true;
    bool closer = n.op() == Op::End || n.op() == Op::Reduce || n.op() == Op::Fill;
    for (UOp s : n.src()) {
      if (closer && s.op() == Op::Range) continue;
      if (n.op() == Op::Index && s != n.src(0)) continue;
      stack.push_back(s);
    }
  }
  return false;
}

}  // namespace

bool walksAsOne(const KernelFacts& kernel, UOp a, UOp b) {
  if (countersAreValues(kernel.sink, a, b)) return false;
  const Linear all = linearOf(b.src(0));
  for (const Access& access : kernel.accesses) {
    for (UOp n : toposort(access.address))
      if (n.op() == Op::Load && (n.dependsOn(a) || n.dependsOn(b))) return false;
    const std::optional<AddressStep> outer = stepOf(access.address, a), inner = stepOf(access.address, b, all);
    if (!outer || outer != inner) return false;
  }
  return true;
}

}  // namespace svod
