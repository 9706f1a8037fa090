#include "linearize/item_order.h"

#include <algorithm>
#include <queue>
#include <ranges>

#include "linearize/terms.h"

namespace svod {

namespace {

using Edges = std::vector<std::pair<size_t, size_t>>;  // (from, to), sorted

/// The term of a sum of products that an item belongs to, and the place of a factor within it; 0, 0 for none.
struct Turn {
  size_t term = 0, factor = 0;
  auto operator<=>(const Turn&) const = default;
};
/// What comes first among items that are ready.
struct Priority {
  Turn turn;
  size_t group, level, position;
  auto operator<=>(const Priority&) const = default;
};

/// Which items of a loop use results of which.
Edges edgesIn(const ScopeTree& tree, size_t loop) {
  Edges edges;
  for (size_t i : tree.nodesInside(loop)) {
    size_t to = tree.itemIn(loop, i);
    for (UOp s : tree.nodes()[i].src()) {
      size_t from = tree.positionOf(s);
      if (s.op() == Op::Range || tree.homeOf(from) != loop || from == to) continue;
      edges.emplace_back(from, to);
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

/// When the sums of a register tile add up: all of them their first term before any adds its second, so that what they
/// share is loaded for one term at a time; within a term, those that share the factor which fewest of them share, so
/// that it is soon done with and only the few factors that all of them need stay in registers.
std::vector<Turn> turnsOf(const ScopeTree& tree, const std::vector<size_t>& items, const Edges& edges) {
  constexpr Turn kNone{SIZE_MAX, SIZE_MAX};
  std::vector<Turn> turns(tree.nodes().size(), kNone);
  std::vector<UOp> nodes;
  for (size_t i : items) nodes.push_back(tree.nodes()[i]);
  for (const auto& [turn, terms] : turnsOfTerms(nodes)) {
    const size_t factor = factorOfFewest(terms);
    for (const Addend& t : terms) turns[tree.positionOf(t.sum)] = {turn, tree.positionOf(t.factors[factor])};
  }
  for (auto [from, to] : edges | std::views::reverse) turns[from] = std::min(turns[from], turns[to]);
  std::ranges::replace(turns, kNone, Turn{});
  return turns;
}

/// The order of the node list, except where chains of dependent ops are so long that the window in which a processor
/// looks for independent ones holds few of them: there, some neighbours advance in turns.
std::vector<Priority> prioritiesOf(const ScopeTree& tree, const std::vector<size_t>& items, const Edges& edges) {
  constexpr size_t kLong = 16, kTogether = 4;
  std::vector<size_t> level(tree.nodes().size()), group(tree.nodes().size(), tree.nodes().size());
  for (auto [from, to] : edges) level[to] = std::max(level[to], level[from] + 1);
  size_t deepest = 0, results = 0;
  for (size_t i : items) deepest = std::max(deepest, level[i]);
  for (size_t i : items)
    if (tree.nodes()[i].op() == Op::Store) group[i] = results++ / kTogether;
  for (auto [from, to] : edges | std::views::reverse) group[from] = std::min(group[from], group[to]);
  std::vector<Priority> priorities(tree.nodes().size());
  const std::vector<Turn> turns = turnsOf(tree, items, edges);
  for (size_t i : items)
    priorities[i] = deepest < kLong ? Priority{turns[i], 0, 0, i} : Priority{turns[i], group[i], level[i], i};
  return priorities;
}

}  // namespace

Result<std::vector<size_t>> sortItems(const ScopeTree& tree, size_t loop) {
  const std::vector<size_t>& items = tree.itemsOf(loop);
  const Edges edges = edgesIn(tree, loop);
  const std::vector<Priority> priorities = prioritiesOf(tree, items, edges);
  std::vector<size_t> waiting(tree.nodes().size()), order;
  for (auto [from, to] : edges) ++waiting[to];
  std::priority_queue<Priority, std::vector<Priority>, std::greater<>> ready;
  for (size_t i : items)
    if (waiting[i] == 0) ready.push(priorities[i]);
  while (!ready.empty()) {
    size_t i = ready.top().position;
    ready.pop();
    order.push_back(i);
    for (auto it = std::lower_bound(edges.begin(), edges.end(), std::pair(i, size_t{0}));
         it != edges.end() && it->first == i; ++it)
      if (--waiting[it->second] == 0) ready.push(priorities[it->second]);
  }
  if (order.size() != items.size())
    return fail(Diag::Verify, "the loops of a kernel depend on each other in a circle",
                "this is a defect of the compiler: report the kernel's .uop text");
  return order;
}

}  // namespace svod
