#include "facts/loops_of.h"

#include <algorithm>

#include "facts/axes.h"

namespace svod {

namespace {

bool isParallel(UOp range) { return axisType(range) == AxisType::Global || isThreadOfGroup(axisType(range)); }

std::vector<UOp> upToInnermostOf(std::vector<UOp> loops, UOp node) {
  while (!loops.empty() && !node.dependsOn(loops.back())) loops.pop_back();
  return loops;
}

}  // namespace

LoopsOf::LoopsOf(std::span<const UOp> order) {
  uint32_t largest = 0;
  for (UOp n : order) largest = std::max(largest, n.id());
  loops_.resize(largest + 1);
  for (size_t i = order.size(); i-- > 0;)
    for (UOp s : order[i].src())
      if (s.op() != Op::Range) enter(order[i], s);
}

void LoopsOf::enter(UOp user, UOp node) {
  std::vector<UOp> loops = loops_[user.id()];
  if (user.op() == Op::End || user.op() == Op::Reduce || user.op() == Op::Fill)
    loops.insert(loops.end(), user.src().begin() + 1, user.src().end());
  std::erase_if(loops, [](UOp r) { return r.op() != Op::Range; });
  std::ranges::stable_partition(loops, isParallel);
  // A store runs in all loops around it, whatever its address depends on.
  bool body = user.op() == Op::End || user.op() == Op::Fill;
  if (!body) loops = upToInnermostOf(std::move(loops), node);
  if (loops.size() > loops_[node.id()].size()) loops_[node.id()] = std::move(loops);
}

}  // namespace svod
