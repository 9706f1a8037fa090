// Index arithmetic of copies and lanes: substituted and simplified as a whole, so that constant offsets stay visible.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "lower/assignment.h"
#include "symbolic/symbolic.h"

namespace svod {

class IndexExpander {
 public:
  explicit IndexExpander(Graph& graph) : g_(graph), simplified_(graph) {}

  /// Arithmetic of ranges, variables and constants, without selection: what the functions below take.
  bool isMath(UOp node);
  /// The same of positions alone.
  bool isIndexMath(UOp node) { return node.dtype() == DType::Index && isMath(node); }
  /// `expr` with the unrolled ranges at their values.
  UOp fixed(UOp expr, const Assignment& at);
  /// The same with a value for each lane of the vector range that it depends on.
  UOp value(UOp expr, const Assignment& at);
  /// As an address: a scalar, a ramp for consecutive lanes, or a vector of indices.
  UOp position(UOp flat, const Assignment& at);

  /// 0, 1, .. for the lanes of a vector range.
  UOp lanes(UOp range);
  /// The vector range that `node` depends on. More than one is the error of this expansion.
  std::optional<UOp> vectorRange(UOp node);
  /// Empty if no value depends on two vector ranges.
  const std::string& error() const { return error_; }

 private:
  UOp perLane(UOp scalar, UOp vector);

  Graph& g_;
  Simplifier simplified_;                      // copies share most of their arithmetic
  std::unordered_map<uint32_t, bool> isMath_;  // by node
  std::string error_;
};

}  // namespace svod
