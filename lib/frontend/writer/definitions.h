// How the value of a node is written: as the call of an op of the table. Calls of the log come first, and nodes that no
// call made are primitives. A call is shortened where that gives the same node, which is tried: operands and attributes
// go through GraphBuilder::ops again, and equal nodes are one node.
#pragma once
#include <deque>
#include <unordered_map>

#include "frontend/builder.h"

namespace svod {

struct Definition {
  std::string op;  // a row of ops.def
  std::vector<BuildLog::Operand> operands;
  Attributes attributes;
  std::vector<UOp> results;
};

/// Constants, ports and contents of storage: written by value or name, not defined.
bool isLeaf(UOp node);
/// A call of a host function that stands where it was made, read or not.
bool isKeptCall(const BuildLog::Step& step);

class Definitions {
 public:
  /// Both must outlive this. The builder is used to try calls, and must not log.
  Definitions(GraphBuilder& builder, const BuildLog& log);
  /// The definition of a node that is no leaf; the same for all results of a call. Diag::Unsupported for a node that no
  /// op of the table makes.
  Result<const Definition*> of(UOp node);

 private:
  bool gives(const Definition& d);
  Tensor operand(const BuildLog::Operand& o);
  Definition shortened(Definition d);
  void shortenAttributes(Definition& d);
  Result<Definition> primitive(UOp node);

  // primitives.cpp: ways to write a node, best first. The last one does without guesses.
  std::vector<Definition> ways(UOp node);
  std::vector<Definition> elementwiseWays(UOp node);
  std::vector<Definition> movementWays(UOp node);
  std::vector<BuildLog::Operand> unstretched(UOp operand);

  GraphBuilder& b_;
  const BuildLog& log_;
  std::unordered_map<uint32_t, const BuildLog::Step*> callOf_;  // by id of a result
  std::unordered_map<uint32_t, const Definition*> known_;
  std::deque<Definition> all_;
};

}  // namespace svod
