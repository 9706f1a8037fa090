// The ways in which a kernel reads a value, as the fusion decision sees them: one token per axis that says
// what the index is made of, without building the index.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "ir/graph.h"

namespace svod {

/// How one index of a value depends on the axes of the kernel that reads it.
struct IndexToken {
  std::vector<int> axes = {};     // of the kernel, ascending
  std::vector<int> reduces = {};  // numbers of the reduce axes it runs over, ascending
  bool reduced = false;           // runs over a reduce axis or comes from data
  bool isCounter = false;         // is the counter of one reduce axis
};

using TokenId = int;

/// One way a value is read.
struct Use {
  uint32_t root;                // number of the kernel that reads it
  std::vector<TokenId> index;   // one per axis
  bool inReduce = false;        // inside the loop of another reduction
  std::vector<int> outer = {};  // axes of the kernel around that reduction, ascending
  std::vector<int> loops = {};  // numbers of the reduce axes around it, ascending
  auto key() const { return std::tie(root, index); }
};

/// Tokens interned by how they were made, so that equal ids mean equal index expressions.
class TokenTable {
 public:
  TokenId zero() { return make({0}, {}); }
  TokenId rootAxis(uint32_t root, int axis) { return make({1, root, axis}, {{axis}}); }
  TokenId reduceAxis(uint32_t node, int axis, double extent);
  /// A function, named by `key`, of other tokens.
  TokenId derive(std::vector<int64_t> key, std::span<const TokenId> from, bool fromData = false);
  const IndexToken& operator[](TokenId id) const { return tokens_[static_cast<size_t>(id)]; }
  /// The axes of the kernel that the indices of a use depend on, ascending.
  std::vector<int> axesOf(const Use& use) const;
  /// The numbers of the reduce axes that indices depend on, ascending, and how often they run over all of these.
  std::vector<int> reducesOf(std::span<const TokenId> index) const;
  double reduceExtent(std::span<const int> reduces) const;

 private:
  TokenId make(std::vector<int64_t> key, IndexToken token);

  std::map<std::vector<int64_t>, TokenId> ids_;
  std::vector<IndexToken> tokens_;
  std::vector<double> extents_;  // of reduce axes, by number
};

/// Both lists in one; all three are ascending and hold each number once.
std::vector<int> unite(std::span<const int> a, std::span<const int> b);

/// Calls `add` with every read of an operand of `n` that computing `n` in place for `use` takes. Storage and
/// the kinds with a kernel of their own, except Contiguous, read nothing in this sense.
void passToOperands(UOp n, const Use& use, TokenTable& tokens, const std::function<void(UOp, Use)>& add);

}  // namespace svod
