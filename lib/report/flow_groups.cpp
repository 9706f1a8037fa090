#include <algorithm>
#include <cmath>

#include "report/flow_parts.h"

namespace svod {

namespace {

constexpr size_t kOpenNodes = 30;     // that are seen at first, about
constexpr size_t kMostChildren = 40;  // of a group, before they are put into groups by their order
constexpr size_t kChunk = 16;         // the least size of such groups

struct Branch {
  std::string name;
  std::map<std::string, size_t> named;            // groups in it
  std::vector<std::pair<bool, size_t>> children;  // whether it is a group, and which; in the order of things
};

int addGroup(Flow& flow, const std::string& name, int parent) {
  flow.groups.push_back({name, parent, false});
  return static_cast<int>(flow.groups.size()) - 1;
}

void emit(Flow& flow, const std::vector<Branch>& branches, size_t at, int parent, const std::string& prefix) {
  const auto& children = branches[at].children;
  const bool isMuch = children.size() > kMostChildren;
  const size_t size = std::max(kChunk, static_cast<size_t>(std::sqrt(static_cast<double>(children.size()))));
  int chunk = parent;
  for (size_t i = 0; i < children.size(); ++i) {
    if (isMuch && i % size == 0)
      chunk =
          addGroup(flow, std::to_string(i) + " to " + std::to_string(std::min(i + size, children.size()) - 1), parent);
    const auto [isGroup, which] = children[i];
    if (!isGroup) {
      flow.nodes[which].group = chunk;
      flow.nodes[which].name = prefix + flow.nodes[which].name;
    } else if (branches[which].children.size() == 1) {
      emit(flow, branches, which, chunk, prefix + branches[which].name + ".");
    } else {
      emit(flow, branches, which, addGroup(flow, prefix + branches[which].name, chunk), "");
    }
  }
}

}  // namespace

void groupByPaths(Flow& flow, const std::vector<std::vector<std::string>>& paths) {
  std::vector<Branch> branches(1);
  for (size_t node = 0; node < paths.size(); ++node) {
    size_t at = 0;
    for (const std::string& level : paths[node]) {
      auto [found, isNew] = branches[at].named.try_emplace(level, branches.size());
      const size_t next = found->second;
      if (isNew) {
        branches[at].children.emplace_back(true, next);
        branches.push_back({level, {}, {}});
      }
      at = next;
    }
    branches[at].children.emplace_back(false, node);
  }
  for (size_t i = branches.size(); i-- > 1;)  // children come after their parents
    while (branches[i].children.size() == 1 && branches[i].children[0].first) {
      const size_t only = branches[i].children[0].second;
      branches[i].name += "." + branches[only].name;
      branches[i].children = std::move(branches[only].children);
    }
  emit(flow, branches, 0, -1, "");
}

void openTheFirst(Flow& flow) {
  std::vector<size_t> children(flow.groups.size() + 1);
  for (const Flow::Node& n : flow.nodes) ++children[static_cast<size_t>(n.group + 1)];
  for (const Flow::Group& g : flow.groups) ++children[static_cast<size_t>(g.parent + 1)];
  size_t seen = children[0];
  for (std::vector<int> level = {-1}; !level.empty();) {
    std::vector<int> next;
    for (size_t g = 0; g < flow.groups.size(); ++g) {
      if (std::ranges::find(level, flow.groups[g].parent) == level.end()) continue;
      const size_t more = children[g + 1] - 1;
      if (seen + more > kOpenNodes) continue;
      seen += more;
      flow.groups[g].isOpen = true;
      next.push_back(static_cast<int>(g));
    }
    level = std::move(next);
  }
}

}  // namespace svod
