#include "tensor/node_names.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "tensor/nodes.h"

namespace svod {

std::map<uint32_t, std::string> labelsOf(const Model& model, std::span<const UOp> order) {
  std::map<uint32_t, std::string> labels = model.labels;
  for (size_t i = order.size(); i-- > 0;) {
    UOp n = order[i];
    if (n.op() == Op::Store && n.src(0).op() == Op::Buffer)
      labels.try_emplace(n.id(), labelOf(model, labels, n.src(0)));
    auto it = labels.find(n.id());
    if (it == labels.end()) continue;
    for (UOp s : n.src())
      if (!isStorage(s)) labels.try_emplace(s.id(), it->second);
  }
  return labels;
}

std::string labelOf(const Model& model, const std::map<uint32_t, std::string>& labels, UOp node) {
  if (auto it = labels.find(node.id()); it != labels.end()) return it->second;
  if (node.op() == Op::Buffer) return model.ports[node.argAs<SlotArg>().slot].name;
  return std::string(toText(node.op()));
}

std::string plainLabel(std::string label) {
  for (char& c : label)
    if (std::isspace(static_cast<unsigned char>(c)) || std::string_view("=|,#").find(c) != std::string_view::npos)
      c = '_';
  return label;
}

void NodeNames::build() {
  const std::map<uint32_t, std::string> labels = labelsOf(model_, order_);
  std::map<uint32_t, int> depth;  // by node id
  std::map<std::string, std::vector<UOp>> sameName;
  for (UOp n : order_) {
    int& d = depth[n.id()];
    for (UOp s : n.src()) d = std::max(d, depth[s.id()] + 1);
    if (!isElementwise(n.op()) && n.op() != Op::Reduce && n.op() != Op::Gather && n.op() != Op::Stack) continue;
    if (n.dtype() == DType::Index) continue;
    sameName[plainLabel(labelOf(model_, labels, n)) + "." + std::string(toText(n.op()))].push_back(n);
  }
  for (auto& [name, nodes] : sameName) {
    std::ranges::sort(nodes, [&](UOp a, UOp b) {
      const auto key = [&](UOp n) { return std::tuple(depth[n.id()], n.hash().hi, n.hash().lo); };
      return key(a) < key(b);
    });
    for (size_t i = 0; i < nodes.size(); ++i)
      names_[nodes[i].id()] = i == 0 ? name : name + "#" + std::to_string(i + 1);
  }
}

const std::string& NodeNames::of(UOp node) {
  if (names_.empty()) build();
  return names_[node.id()];
}

}  // namespace svod
