#include "tensor/loops.h"

#include <algorithm>

namespace svod {

LoopTree::LoopTree(std::span<const UOp> nodes) {
  for (UOp n : nodes)
    if (n.op() == Op::End) {
      loopOf_[n.src(1).id()] = static_cast<int>(loops_.size());
      loops_.push_back({n.src(1), n});
    }
  for (size_t i = loops_.size(); i-- > 0;) {
    Entry& loop = loops_[i];
    loop.parent = of(loop.end);
    loop.depth = loop.parent < 0 ? 1 : loops_[loop.parent].depth + 1;
  }
}

int LoopTree::of(UOp node) const {
  int innermost = -1;
  for (UOp range : node.ranges()) {
    auto it = loopOf_.find(range.id());
    if (it == loopOf_.end()) continue;
    if (innermost < 0 || loops_[it->second].depth > loops_[innermost].depth) innermost = it->second;
  }
  return innermost;
}

bool LoopTree::contains(int outer, int inner) const {
  while (inner >= 0 && inner != outer) inner = loops_[inner].parent;
  return inner == outer;
}

UOp Counters::asVariables(UOp value) {
  if (value.ranges().empty()) return value;
  auto [it, isNew] = memo_.try_emplace(value.id());
  if (!isNew) return it->second;
  std::vector<UOp> from(value.ranges().begin(), value.ranges().end()), to;
  for (UOp range : from)
    to.push_back(model_.graph->variable(model_.loops[range.argAs<AxisArg>().id], 0, range.bounds().max));
  return it->second = substitute(*model_.graph, value, from, to);
}

std::vector<UOp> writtenBy(UOp effect) {
  std::vector<UOp> pending{effect}, buffers;
  while (!pending.empty()) {
    UOp n = pending.back();
    pending.pop_back();
    if (n.op() == Op::Store) {
      UOp target = bufferBelow(n.src(0));
      if (std::find(buffers.begin(), buffers.end(), target) == buffers.end()) buffers.push_back(target);
    } else if (n.op() == Op::End) {
      pending.push_back(n.src(0));
    } else {
      pending.insert(pending.end(), n.src().begin(), n.src().end());
    }
  }
  return buffers;
}

}  // namespace svod
