#include "schedule/element_dag.h"

namespace svod {

uint32_t ElementDag::indexNumber(const std::vector<TokenId>& index) {
  auto [at, isNew] = indexNumbers_.try_emplace(index, static_cast<uint32_t>(indices_.size()));
  if (isNew) indices_.push_back(index);
  return at->second;
}

uint32_t ElementDag::itemOf(UOp node, uint32_t index) {
  if (isIndexMath_[node.id()]) index = indexNumber({});
  uint32_t& first = first_[node.id()];
  for (uint32_t i = first; i != kNone; i = items_[i].sameNode)
    if (items_[i].index == index) return i;
  items_.push_back({node, false, index, 0, 0, first});
  return first = static_cast<uint32_t>(items_.size() - 1);
}

void ElementDag::addOperands(Item item) {
  const auto add = [&](UOp operand, uint32_t index) { operands_.push_back(itemOf(operand, index)); };
  if (isElementwise(item.node.op()) || isIndexMath_[item.node.id()]) {
    const uint32_t scalar = indexNumber({});
    for (UOp s : item.node.src())
      if (!s.isConst()) add(s, s.rank() == 0 ? scalar : item.index);
    return;
  }
  passToOperands(item.node, {0, indices_[item.index]}, tokens_,
                 [&](UOp operand, const Use& read) { add(operand, indexNumber(read.index)); });
}

void ElementDag::find(std::span<const UOp> values, const std::function<bool(UOp)>& isLeaf, size_t most) {
  for (const Item& item : items_) first_[item.node.id()] = kNone;
  items_.clear(), operands_.clear();
  for (UOp value : values) {
    std::vector<TokenId> index;
    for (size_t i = 0; i < value.rank(); ++i)
      index.push_back(value.dim(i) == 1 ? tokens_.zero() : tokens_.rootAxis(0, static_cast<int>(i)));
    itemOf(value, indexNumber(index));
  }
  const size_t starts = items_.size();
  for (size_t i = 0; i < items_.size() && items_.size() < most; ++i) {
    items_[i].isLeaf = i >= starts && isLeaf(items_[i].node);
    items_[i].firstOperand = static_cast<uint32_t>(operands_.size());
    if (!items_[i].isLeaf) addOperands(items_[i]);
    items_[i].operandCount = static_cast<uint32_t>(operands_.size()) - items_[i].firstOperand;
  }
}

bool ElementDag::isReadOnce(const Item& item) const {
  if (item.sameNode != kNone || item.node.maxNumel() != items_[0].node.maxNumel()) return false;
  const Use value{0, indices_[items_[0].index]}, read{0, indices_[item.index]};
  return tokens_.axesOf(read) == tokens_.axesOf(value);
}

}  // namespace svod
