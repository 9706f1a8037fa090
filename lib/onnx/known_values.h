// What is known about values while a model is read: constants, and integers made from sizes. Shape arithmetic
// needs nothing else: it is imported like all other nodes, and when a lowering asks for the elements of an
// operand, the graph below that operand is evaluated with sizes as symbolic elements.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/builder.h"
#include "interp/tensor.h"
#include "onnx/value_ranges.h"

namespace svod {

/// The inputs and variables that a value depends on, by name, sorted.
struct Dependencies {
  std::vector<std::string> inputs, variables;
};

/// Belongs to one builder, which outlives it, and remembers what it found; used by the thread of the builder.
class KnownValues {
 public:
  explicit KnownValues(GraphBuilder& builder) : b_(builder), ranges_(builder) {}

  /// The elements of x in row-major order, or nothing when the shape is symbolic or larger than kMaxElements.
  /// An element is a constant of the dtype of x, an expression over variables as in size_arithmetic.h, or null when
  /// only a run can tell.
  std::optional<std::vector<UOp>> elements(const Tensor& x);
  /// The value of x when it depends on no input, state or variable. Large constants are copied.
  std::optional<HostTensor> constant(const Tensor& x);
  /// From here on the elements of x, an input, are these.
  void set(const Tensor& x, std::vector<UOp> elements) { known_[x.node().id()] = std::move(elements); }
  /// What the elements of x can be in a run.
  ValueRange range(const Tensor& x) { return ranges_.of(x.node()); }
  /// What a run must give before x has a value.
  Dependencies dependencies(const Tensor& x) const;

  static constexpr int64_t kMaxElements = 4096;

 private:
  using Elements = std::vector<UOp>;
  const Elements& visit(UOp node);
  Elements evaluate(UOp node);
  Elements buffer(UOp node);
  Elements moved(UOp node);
  Elements gathered(UOp node);
  Elements scattered(UOp node);
  Elements reduced(UOp node);
  Elements elementwise(UOp node);
  UOp scalar(Op op, DType dtype, std::span<const UOp> operands);
  bool dependsOnRun(UOp node);

  GraphBuilder& b_;
  ValueRanges ranges_;
  std::unordered_map<uint32_t, Elements> known_;  // node id -> elements; empty also for "nothing is known"
  std::unordered_map<uint32_t, bool> dependsOnRun_;
};

}  // namespace svod
