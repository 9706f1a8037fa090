#include <algorithm>
#include <utility>

#include "ir/graph.h"

namespace svod {

std::vector<UOp> toposort(std::span<const UOp> roots) {
  std::vector<UOp> order;
  std::vector<bool> seen;
  std::vector<std::pair<UOp, size_t>> stack;
  auto visit = [&](UOp n) {
    if (n.id() >= seen.size()) seen.resize(n.id() + 1);
    if (seen[n.id()]) return;
    seen[n.id()] = true;
    stack.emplace_back(n, 0);
  };
  for (UOp root : roots) {
    visit(root);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next < node.srcCount()) {
        visit(node.src(next++));
      } else {
        order.push_back(node);
        stack.pop_back();
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
  std::vector<UOp> order = toposort(root), src;
  uint32_t largest = 0;
  for (UOp n : order) largest = std::max(largest, n.id());
  std::vector<UOp> newOf(largest + 1);
  for (UOp n : order) {
    src.clear();
    for (UOp s : n.src()) src.push_back(newOf[s.id()]);
    newOf[n.id()] = map(n, src);
  }
  return newOf[root.id()];
}

UOp substitute(Graph& graph, UOp root, std::span<const UOp> from, std::span<const UOp> to) {
  std::vector<UOp> newOf(graph.size());
  for (size_t i = 0; i < from.size(); ++i) newOf[from[i].id()] = to[i];
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
