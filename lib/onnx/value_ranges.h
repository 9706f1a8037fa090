// Bounds of values that a run computes, floats among them: what makes room for a size that is such a value.
#pragma once
#include <span>
#include <unordered_map>

#include "frontend/builder.h"

namespace svod {

/// Every element that is no NaN lies between these, which may be infinite.
struct ValueRange {
  double least, most;
  bool isNumber = true;  // no element is NaN
};

/// Belongs to one builder, which outlives it, and remembers what it found.
class ValueRanges {
 public:
  explicit ValueRanges(GraphBuilder& builder) : b_(builder) {}
  ValueRange of(UOp node);

 private:
  ValueRange evaluate(UOp node) const;
  ValueRange elementwise(UOp node) const;
  ValueRange integers(UOp node) const;
  ValueRange difference(UOp a, UOp c, int depth) const;
  UOp uncast(UOp node) const;
  ValueRange folded(UOp node) const;
  ValueRange gathered(UOp node) const;
  ValueRange weights(UOp node) const;
  ValueRange variable(UOp node) const;
  UOp countOf(UOp node) const { return node.op() == Op::Var ? b_.countOf(node) : UOp(); }
  ValueRange known(UOp node) const { return known_.at(node.id()); }
  ValueRange allOf(std::span<const UOp> nodes) const;

  GraphBuilder& b_;
  std::unordered_map<uint32_t, ValueRange> known_;
};

}  // namespace svod
