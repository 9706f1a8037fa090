// Loops of a tensor graph: which node belongs to which body, and counters as variables of kernels.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/model.h"
#include "support/decision.h"
#include "support/result.h"

namespace svod {

/// The loops of a graph as a forest. Loops are numbered in order of their End; a parent has a larger number.
class LoopTree {
 public:
  struct Entry {
    UOp range, end;
    int parent = -1;  // the loop around it, or -1
    int depth = 1;
  };
  LoopTree() = default;
  /// `nodes` in topological order.
  explicit LoopTree(std::span<const UOp> nodes);

  std::span<const Entry> loops() const { return loops_; }
  /// The innermost loop whose body the node belongs to, or -1.
  int of(UOp node) const;
  bool contains(int outer, int inner) const;  // `outer` is `inner` or around it; -1 is around all

 private:
  std::vector<Entry> loops_;
  std::map<uint32_t, int> loopOf_;  // by id of the range
};

/// Sizes and offsets with the counters in them replaced by variables, which is what kernels know them as.
class Counters {
 public:
  explicit Counters(Model& model) : model_(model) {}
  UOp asVariables(UOp value);

 private:
  Model& model_;
  std::map<uint32_t, UOp> memo_;
};

/// Replaces every loop of AxisType::Unroll by a copy of its body per iteration, unless it is decided otherwise. Adds
/// names of the loops it copies to the model.
Result<UOp> unrollLoops(Model& model, UOp sink, Decisions& decisions);

/// The Buffer of a content of a state or temporary, or of a view of one.
inline UOp bufferBelow(UOp content) {
  while (content.op() != Op::Buffer) content = content.src(0);
  return content;
}

/// Buffers that a Store, or the stores in the body of an End, write to.
std::vector<UOp> writtenBy(UOp effect);

}  // namespace svod
