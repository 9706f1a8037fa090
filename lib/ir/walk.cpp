#include <algorithm>
#include <utility>

#include "ir/graph.h"

namespace svod {

namespace {

/// Ids of nodes below these are no greater than theirs.
uint32_t largestId(std::span<const UOp> roots) {
  uint32_t largest = 0;
  for (UOp root : roots) largest = std::max(largest, root.id());
  return largest;
}

}  // namespace

std::vector<UOp> toposort(std::span<const UOp> roots) {
  struct Visit {
    UOp node;
    const UOp *next, *end;  // sources
  };
  std::vector<UOp> order;
  std::vector<Visit> stack;
  std::vector<bool> seen(largestId(roots) + 1);
  const auto enter = [&](UOp n) {
    seen[n.id()] = true;
    stack.push_back({n, n.src().data(), n.src().data() + n.srcCount()});
  };
  for (UOp root : roots) {
    if (!seen[root.id()]) enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      while (top.next != top.end && seen[top.next->id()]) ++top.next;
      if (top.next == top.end) {
        order.push_back(top.node);
        stack.pop_back();
      } else {
        enter(*top.next++);
      }
    }
  }
  return order;
}

std::vector<UOp> toposort(UOp root) { return toposort(std::span<const UOp>(&root, 1)); }

UOp behindAliases(UOp node) {
  while (node.op() == Op::After || node.op() == Op::Prefetch) node = node.src(0);
  return node;
}

UOp storageOf(UOp address) {
  for (address = behindAliases(address); address.op() == Op::Index; address = behindAliases(address.src(0))) continue;
  return address;
}

UOp transform(Graph&, UOp root, const std::function<UOp(UOp, std::span<const UOp>)>& map) {
  std::vector<UOp> newOf(root.id() + 1), src;
  for (UOp n : toposort(root)) {
    src.clear();
    for (UOp s : n.src()) src.push_back(newOf[s.id()]);
    newOf[n.id()] = map(n, src);
  }
  return newOf[root.id()];
}

UOp substitute(Graph& graph, UOp root, std::span<const UOp> from, std::span<const UOp> to) {
  std::vector<UOp> newOf(root.id() + 1);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i].id() < newOf.size()) newOf[from[i].id()] = to[i];
  std::vector<std::pair<UOp, bool>> stack{{root, false}};
  std::vector<UOp> src;
  while (!stack.empty()) {
    auto [node, ready] = stack.back();
    stack.pop_back();
    if (newOf[node.id()]) continue;
    if (!ready) {
      stack.emplace_back(node, true);
      for (UOp s : node.src())
        if (!newOf[s.id()]) stack.emplace_back(s, false);
      continue;
    }
    src.clear();
    for (UOp s : node.src()) src.push_back(newOf[s.id()]);
    newOf[node.id()] = std::ranges::equal(src, node.src()) ? node : graph.withSrc(node, src);
  }
  return newOf[root.id()];
}

}  // namespace svod
