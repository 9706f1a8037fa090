#include "tensor/node_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <unordered_map>

#include "tensor/nodes.h"

namespace svod {

NodeLabels::NodeLabels(const Model& model, std::span<const UOp> order)
    : model_(model), labels_(model.graph->size(), nullptr) {
  for (const auto& [id, label] : model.labels) labels_[id] = &label;
  for (size_t i = order.size(); i-- > 0;) {
    UOp n = order[i];
    const std::string*& label = labels_[n.id()];
    if (label == nullptr && n.op() == Op::Store && n.src(0).op() == Op::Buffer) {
      label = labels_[n.src(0).id()];
      if (label == nullptr) label = &model.ports[n.src(0).argAs<SlotArg>().slot].name;
    }
    if (label == nullptr) continue;
    for (UOp s : n.src())
      if (!isStorage(s) && labels_[s.id()] == nullptr) labels_[s.id()] = label;
  }
}

std::string_view NodeLabels::of(UOp node) const {
  if (node.id() < labels_.size() && labels_[node.id()] != nullptr) return *labels_[node.id()];
  if (node.op() == Op::Buffer) return model_.ports[node.argAs<SlotArg>().slot].name;
  return toText(node.op());
}

std::string plainLabel(std::string label) {
  for (char& c : label)
    if (std::isspace(static_cast<unsigned char>(c)) || std::string_view("=|,#").find(c) != std::string_view::npos)
      c = '_';
  return label;
}

void NodeNames::build() {
  struct Entry {
    uint32_t text;
    int depth;
    UOp node;
  };
  const NodeLabels labels(model_, order_);
  std::vector<int> depth(model_.graph->size(), 0);             // by node id
  std::map<std::pair<std::string_view, Op>, uint32_t> textOf;  // by label
  std::unordered_map<std::string, uint32_t> known;             // labels may be alike when they are plain
  std::vector<Entry> entries;
  texts_.emplace_back();
  for (UOp n : order_) {
    int& d = depth[n.id()];
    for (UOp s : n.src()) d = std::max(d, depth[s.id()] + 1);
    if (!isElementwise(n.op()) && n.op() != Op::Reduce && n.op() != Op::Gather && n.op() != Op::Stack) continue;
    if (n.dtype() == DType::Index) continue;
    const auto [at, isNew] = textOf.try_emplace({labels.of(n), n.op()}, 0);
    if (isNew) {
      std::string text = plainLabel(std::string(at->first.first)) + "." + std::string(toText(n.op()));
      at->second = known.try_emplace(text, static_cast<uint32_t>(texts_.size())).first->second;
      if (at->second == texts_.size()) texts_.push_back(std::move(text));
    }
    entries.push_back({at->second, d, n});
  }
  std::ranges::sort(entries, {},
                    [](const Entry& e) { return std::tuple(e.text, e.depth, e.node.hash().hi, e.node.hash().lo); });
  names_.resize(model_.graph->size());
  uint32_t number = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    number = i > 0 && entries[i].text == entries[i - 1].text ? number + 1 : 1;
    names_[entries[i].node.id()] = {entries[i].text, number};
  }
}

std::string NodeNames::of(UOp node) {
  if (texts_.empty()) build();
  if (node.id() >= names_.size()) return {};
  const auto [text, number] = names_[node.id()];
  return number < 2 ? texts_[text] : texts_[text] + "#" + std::to_string(number);
}

}  // namespace svod
