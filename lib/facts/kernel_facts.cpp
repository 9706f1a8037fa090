#include "facts/kernel_facts.h"

#include <algorithm>

namespace svod {

namespace {

std::vector<UOp> only(std::span<const UOp> nodes, Op op) {
  std::vector<UOp> found;
  std::ranges::copy_if(nodes, std::back_inserter(found), [&](UOp n) { return n.op() == op; });
  return found;
}

}  // namespace

KernelFacts::KernelFacts(UOp kernel)
    : sink(kernel), nodes(toposort(kernel)), reduces(only(nodes, Op::Reduce)), fills(only(nodes, Op::Fill)),
      axes(axesOf(nodes)), accesses(accessesOf(nodes)), lanes(lanesOf(nodes)) {}

Pattern KernelFacts::pattern() const {
  if (!pattern_) pattern_ = patternOf(*this);
  return *pattern_;
}

bool KernelFacts::hasSerial() const {
  return std::ranges::any_of(axes, [](const Axis& a) { return axisType(a.range) == AxisType::Serial; });
}

const LoopsOf& KernelFacts::loops() const {
  if (!loops_) loops_.emplace(nodes);
  return *loops_;
}

const KernelFacts& FactsCache::of(UOp sink) { return facts_.try_emplace(sink.id(), sink).first->second; }

}  // namespace svod
