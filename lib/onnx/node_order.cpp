#include "onnx/node_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support/text.h"

namespace svod {

// What the graph of a node takes from the graph around it. Graphs nest no deeper than the parser lets them.
static void addUses(const proto::GraphProto& graph, UsedNames& names) {
  UsedNames used;
  for (const proto::NodeProto& node : graph.node()) addUses(node, used);
  for (const auto& output : graph.output()) used.insert(output.name());
  for (const proto::NodeProto& node : graph.node())
    for (const std::string& made : node.output()) used.erase(made);
  for (const auto& input : graph.input()) used.erase(input.name());
  for (const auto& weight : graph.initializer()) used.erase(weight.name());
  names.insert(used.begin(), used.end());
}

void addUses(const proto::NodeProto& node, UsedNames& names) {
  for (const std::string& name : node.input()) names.insert(name);
  for (const proto::AttributeProto& a : node.attribute()) {
    if (a.has_g()) addUses(a.g(), names);
    for (const proto::GraphProto& g : a.graphs()) addUses(g, names);
  }
}

namespace {

/// For every node the nodes it needs, each once, ascending.
using Needs = std::vector<std::vector<int>>;

Needs needsOf(const ProtoNodes& nodes) {
  std::unordered_map<std::string_view, int> makerOf;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& name : nodes[i].output())
      if (!name.empty()) makerOf.try_emplace(name, i);
  Needs needs(static_cast<size_t>(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    UsedNames used;
    addUses(nodes[i], used);
    std::vector<int>& makers = needs[static_cast<size_t>(i)];
    for (std::string_view name : used)
      if (auto found = makerOf.find(name); found != makerOf.end()) makers.push_back(found->second);
    std::ranges::sort(makers);
    makers.erase(std::ranges::unique(makers).begin(), makers.end());
  }
  return needs;
}

bool isSorted(const Needs& needs) {
  for (size_t i = 0; i < needs.size(); ++i)
    if (!needs[i].empty() && needs[i].back() >= static_cast<int>(i)) return false;
  return true;
}

// Of the nodes that need nothing more, always the one listed first; then those of circles.
std::vector<int> orderOf(const Needs& needs) {
  const size_t count = needs.size();
  std::vector<std::vector<int>> neededBy(count);
  std::vector<size_t> open(count);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (size_t i = 0; i < count; ++i) {
    open[i] = needs[i].size();
    for (int maker : needs[i]) neededBy[static_cast<size_t>(maker)].push_back(static_cast<int>(i));
    if (open[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    int next = ready.top();
    ready.pop();
    order.push_back(next);
    for (int user : neededBy[static_cast<size_t>(next)])
      if (--open[static_cast<size_t>(user)] == 0) ready.push(user);
  }
  for (size_t i = 0; i < count; ++i)
    if (open[i] != 0) order.push_back(static_cast<int>(i));
  return order;
}

void sortNodes(ProtoNodes& nodes) {
  for (proto::NodeProto& node : nodes)
    for (proto::AttributeProto& a : *node.mutable_attribute()) {
      if (a.has_g()) sortNodes(*a.mutable_g()->mutable_node());
      for (proto::GraphProto& g : *a.mutable_graphs()) sortNodes(*g.mutable_node());
    }
  const Needs needs = needsOf(nodes);
  if (isSorted(needs)) return;
  const std::vector<int> order = orderOf(needs);
  std::vector<int> at(order.size()), holds(order.size());  // where node i is now, and which node stands at a place
  for (size_t i = 0; i < order.size(); ++i) at[i] = holds[i] = static_cast<int>(i);
  for (int place = 0; place < nodes.size(); ++place) {
    const int node = order[static_cast<size_t>(place)], from = at[static_cast<size_t>(node)];
    const int other = holds[static_cast<size_t>(place)];
    nodes.SwapElements(place, from);
    holds[static_cast<size_t>(from)] = other;
    at[static_cast<size_t>(other)] = from;
  }
}

}  // namespace

void sortNodes(proto::ModelProto& model) {
  sortNodes(*model.mutable_graph()->mutable_node());
  for (proto::FunctionProto& f : *model.mutable_functions()) sortNodes(*f.mutable_node());
}

void addUses(const ProtoNodes& nodes, UsedNames& names) {
  for (const proto::NodeProto& node : nodes) addUses(node, names);
  names.erase("");
}

std::string circleThrough(const ProtoNodes& nodes, const std::string& name) {
  auto makes = [&](const proto::NodeProto& n) { return std::ranges::find(n.output(), name) != n.output().end(); };
  const int start = static_cast<int>(std::ranges::find_if(nodes, makes) - nodes.begin());
  if (start == nodes.size()) return {};
  const Needs needs = needsOf(nodes);
  // Breadth first, so that the circle is one of the shortest.
  std::vector<int> cameFrom(needs.size(), -1), queue{start};
  int last = -1;
  for (size_t k = 0; k < queue.size() && last < 0; ++k)
    for (int maker : needs[static_cast<size_t>(queue[k])]) {
      if (maker == start) last = queue[k];
      if (maker == start || cameFrom[static_cast<size_t>(maker)] >= 0) continue;
      cameFrom[static_cast<size_t>(maker)] = queue[k];
      queue.push_back(maker);
    }
  if (last < 0) return {};
  std::vector<int> circle{start};
  for (int at = last; at != start; at = cameFrom[static_cast<size_t>(at)]) circle.insert(circle.begin() + 1, at);
  constexpr size_t kMostNamed = 6;
  std::string text;
  auto nameAt = [&](size_t i) {
    const proto::NodeProto& node = nodes[circle[i % circle.size()]];
    return "'" + shortened(i % circle.size() == 0 ? name : node.output_size() ? node.output(0) : node.name()) + "'";
  };
  for (size_t i = 0; i < circle.size(); ++i) {
    if (i == kMostNamed) return text + ", ..";
    text += (i == 0 ? "" : ", ") + nameAt(i) + " needs " + nameAt(i + 1);
  }
  return text;
}

const proto::NodeProto* makerOf(const proto::GraphProto& body, const std::string& name) {
  for (const proto::NodeProto& node : body.node())
    if (std::ranges::find(node.output(), name) != node.output().end()) return &node;
  return nullptr;
}

}  // namespace svod
