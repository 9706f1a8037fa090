#include "linearize/scope_tree.h"

#include <algorithm>
#include <ranges>

#include "ir/text.h"

namespace svod {

ScopeTree::ScopeTree(UOp sink) : nodes_(toposort(sink)) {
  uint32_t largest = 0;
  for (UOp n : nodes_) largest = std::max(largest, n.id());
  positionOf_.resize(largest + 1);
  loopOfRange_.resize(largest + 1);
  for (size_t i = 0; i < nodes_.size(); ++i) positionOf_[nodes_[i].id()] = i;
}

Result<ScopeTree> ScopeTree::of(UOp sink) {
  ScopeTree tree(sink);
  SVOD_CHECK(tree.findLoops());
  SVOD_CHECK(tree.findHomes());
  return tree;
}

Status ScopeTree::findLoops() {
  loops_.push_back({});
  for (UOp end : nodes_) {
    if (end.op() != Op::End) continue;
    UOp range = end.src(1);
    if (endOfRange_.contains(range.id()))
      return fail(Diag::Verify, "range " + toLineText(range) + " is closed by two ends",
                  "this is a defect of the compiler: mergeLoops must leave one end per range");
    endOfRange_[range.id()] = end;
  }
  keepInLoops();
  for (UOp end : nodes_)
    if (end.op() == Op::End) openLoop(end);
  return {};
}

/// What an End closes stays in its loop even if it does not depend on it, unless the loop runs in any case.
void ScopeTree::keepInLoops() {
  heldIn_.resize(positionOf_.size());
  for (UOp n : nodes_ | std::views::reverse) {  // ends around others come first
    if (n.op() != Op::End && n.op() != Op::Group) continue;
    std::vector<UOp> around = heldIn_[n.id()];
    if (n.op() == Op::End && n.src(1).src(0).bounds().min < 1) around.push_back(n.src(1));
    for (UOp effect : n.op() == Op::End ? n.src().first(1) : n.src())
      heldIn_[effect.id()].insert(heldIn_[effect.id()].end(), around.begin(), around.end());
  }
}

/// The ranges of the loops that a node is in.
std::vector<UOp> ScopeTree::rangesAround(UOp node) const {
  std::vector<UOp> ranges(node.ranges().begin(), node.ranges().end());
  const std::vector<UOp>& held = heldIn_[node.id()];
  ranges.insert(ranges.end(), held.begin(), held.end());
  return ranges;
}

/// The loops around a loop are those of the ranges open at its End; they get their numbers first.
void ScopeTree::openLoop(UOp end) {
  UOp range = end.src(1);
  if (loopOfRange_[range.id()] != 0) return;
  for (UOp outer : rangesAround(end))
    if (auto it = endOfRange_.find(outer.id()); it != endOfRange_.end()) openLoop(it->second);
  size_t parent = innermost(end);
  loopOfRange_[range.id()] = loops_.size();
  loops_.push_back({range, end, parent, loops_[parent].depth + 1, {}});
}

size_t ScopeTree::innermost(UOp node) const {
  size_t best = 0;
  for (UOp r : rangesAround(node)) {
    size_t loop = loopOfRange_[r.id()];
    if (loops_[loop].depth > loops_[best].depth || best == 0) best = loop;
  }
  return best;
}

bool ScopeTree::isAncestor(size_t outer, size_t inner) const {
  while (loops_[inner].depth > loops_[outer].depth) inner = loops_[inner].parent;
  return inner == outer;
}

Status ScopeTree::findHomes() {
  home_.resize(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    UOp n = nodes_[i];
    home_[i] = innermost(n);
    for (UOp r : rangesAround(n))
      if (!isAncestor(loopOfRange_[r.id()], home_[i]))
        return fail(Diag::Verify, "node " + toLineText(n) + " depends on loops that are not nested",
                    "this is a defect of the compiler: report the kernel's .uop text");
    if (n.op() != Op::Range) loops_[home_[i]].items.push_back(i);
  }
  return {};
}

/// The item of `loop` that contains node `i`: itself, or the End of the inner loop around it.
size_t ScopeTree::itemIn(size_t loop, size_t i) const {
  size_t at = home_[i];
  if (at == loop && nodes_[i].op() != Op::Range) return i;
  if (nodes_[i].op() == Op::Range) at = loopOfRange_[nodes_[i].id()];
  while (loops_[at].parent != loop) at = loops_[at].parent;
  return positionOf_[loops_[at].end.id()];
}

/// Nodes homed in `loop` or in loops inside it.
std::vector<size_t> ScopeTree::nodesInside(size_t loop) const {
  std::vector<size_t> inside;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    size_t at = nodes_[i].op() == Op::Range ? loopOfRange_[nodes_[i].id()] : home_[i];
    if (nodes_[i].op() == Op::Range ? at != loop && isAncestor(loop, at) : isAncestor(loop, at)) inside.push_back(i);
  }
  return inside;
}

}  // namespace svod
