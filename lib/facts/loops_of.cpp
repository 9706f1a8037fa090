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
  placeOf_.resize(largest + 1), loops_.resize(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) placeOf_[order[i].id()] = i;
  for (size_t i = order.size(); i-- > 0;)
    for (UOp s : order[i].src())
      if (s.op() != Op::Range) enter(order[i], s);
}

void LoopsOf::enter(UOp user, UOp node) {
  const std::vector<UOp>& around = loops_[placeOf_[user.id()]];
  std::vector<UOp>& known = loops_[placeOf_[node.id()]];
  const bool closes = user.op() == Op::End || user.op() == Op::Reduce || user.op() == Op::Fill;
  if (around.size() + (closes ? user.srcCount() - 1 : 0) <= known.size()) return;
  std::vector<UOp> loops = around;
  if (closes) loops.insert(loops.end(), user.src().begin() + 1, user.src().end());
  std::erase_if(loops, [](UOp r) { return r.op() != Op::Range; });
  std::ranges::stable_partition(loops, isParallel);
  // A store runs in all loops around it, whatever its address depends on.
  bool body = user.op() == Op::End || user.op() == Op::Fill;
  if (!body) loops = upToInnermostOf(std::move(loops), node);
  if (loops.size() > known.size()) known = std::move(loops);
}

}  // namespace svod
