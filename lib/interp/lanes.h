// Values inside kernels: one scalar or a vector of them (an internal header of the room).
#pragma once
#include <vector>

#include "ir/uop.h"

namespace svod {

/// A value of shape () has one lane and `vector` false; shape (1) is a vector of one lane.
struct LaneValues {
  Scalar first;                // the value of a scalar
  std::vector<Scalar> vector;  // the lanes of a vector; empty for a scalar

  LaneValues() = default;
  explicit LaneValues(Scalar scalar) : first(scalar) {}
  explicit LaneValues(std::vector<Scalar> lanes) : vector(std::move(lanes)) {}

  bool isVector() const { return !vector.empty(); }
  size_t count() const { return isVector() ? vector.size() : 1; }
  /// Lane `i`; a scalar has the same value in every lane.
  const Scalar& operator[](size_t i) const { return isVector() ? vector[i] : first; }
};

/// The value of a node whose operands are known: elementwise ops, Const, Stack, Ramp, Lane, and Reduce without ranges
/// (v[i] = op(v[i], v[i + w/2]) while w > 1).
LaneValues evalLanes(UOp node, std::span<const LaneValues* const> operands);
/// The same, into `out`, which is none of the operands.
void evalLanes(UOp node, std::span<const LaneValues* const> operands, LaneValues& out);
bool hasEvalLanes(UOp node);

/// op(a, b) lane by lane.
LaneValues combine(Op op, DType dtype, const LaneValues& a, const LaneValues& b);

}  // namespace svod
