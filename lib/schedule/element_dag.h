// The expression DAG of an element: each value once for every index that it is read at, however many values read it
// there, as a kernel computes it.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "tensor/uses.h"

namespace svod {

class ElementDag {
 public:
  struct Item {
    UOp node;
    bool isLeaf = false;  // it is read, not computed
    uint32_t index = 0;   // number of the index that it is read at
    uint32_t firstOperand = 0, operandCount = 0;
    uint32_t sameNode = 0;  // an item of the node at another index; kNone for none
  };

  /// For nodes whose ids are below `ids`. `isIndexMath`, by node id: such values count once, whatever they are read at.
  ElementDag(size_t ids, const std::vector<bool>& isIndexMath) : isIndexMath_(isIndexMath), first_(ids, kNone) {}

  /// Finds what one element of each of `values`, all at one index, takes. `isLeaf` is not asked about `values`. Stops
  /// when there are `most` items.
  void find(std::span<const UOp> values, const std::function<bool(UOp)>& isLeaf, size_t most = SIZE_MAX);

  /// Those found last.
  std::span<const Item> items() const { return items_; }
  /// Numbers of the items that an item reads.
  std::span<const uint32_t> operands(const Item& item) const {
    return std::span(operands_).subspan(item.firstOperand, item.operandCount);
  }
  /// Whether the value that was asked for reads each element of this one once, as far as their sizes and axes tell.
  bool isReadOnce(const Item& item) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The item of a node at an index, which is made where there is none.
  uint32_t itemOf(UOp node, uint32_t index);
  uint32_t indexNumber(const std::vector<TokenId>& index);
  void addOperands(Item item);

  const std::vector<bool>& isIndexMath_;
  TokenTable tokens_;
  std::map<std::vector<TokenId>, uint32_t> indexNumbers_;
  std::vector<std::vector<TokenId>> indices_;  // by number
  std::vector<Item> items_;
  std::vector<uint32_t> operands_;
  std::vector<uint32_t> first_;  // by node id: an item of it
};

}  // namespace svod
