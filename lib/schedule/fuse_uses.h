// How the kernels there would be read each value, while fusion walks from results to operands.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"
#include "tensor/uses.h"

namespace svod {

/// Kinds with a kernel, or a host call, of their own: they are kept whatever it costs.
inline bool hasOwnKernel(Op op) {
  return op == Op::Contiguous || op == Op::Copy || op == Op::Custom || op == Op::Scatter;
}

/// Operands that a host function or a transfer reads as buffers; sizes are numbers to them. None of other nodes.
std::vector<UOp> wholeOperands(UOp node);

/// A root is a kernel there would be: its loops run over the axes of one value. Numbers of iterations and elements are
/// those of the largest shape.
class FusionUses {
 public:
  /// For nodes whose ids are below `ids`.
  explicit FusionUses(size_t ids) : uses_(ids) {}

  void clear();
  /// At most parameters::kMaxUses + 1.
  std::span<const Use> of(UOp n) const { return uses_[n.id()]; }
  void add(UOp n, Use use);
  void drop(UOp n) { uses_[n.id()].clear(); }
  /// All uses of a value as the first one, outside of other reductions: it is read where it is filled.
  void readOnce(UOp n);
  /// A kernel whose loops run over the axes of `shape`; it reads each of `values` at its own element. `owner`: the
  /// value or Store that the kernel is for.
  void addRoot(UOp owner, UOp shape, std::span<const UOp> values);

  UOp rootShape(const Use& use) const { return rootShape_[use.root]; }
  UOp owner(const Use& use) const { return rootOwner_[use.root]; }
  TokenTable& tokens() { return tokens_; }
  const TokenTable& tokens() const { return tokens_; }

  /// The use is that of the kernel for the value itself.
  bool isRootUse(UOp n, const Use& use) const { return rootShape(use) == n && !use.inReduce; }
  /// Some index is made of the counter of a reduce axis and of other things, or comes from data.
  bool isInWindows(const Use& use) const;
  /// How many different elements this use reads, counting one again for every step of a reduction.
  double elementsRead(const Use& use) const;
  /// Iterations of the loops around the kernel that `n` is no part of: it is computed again in each.
  double repetitions(UOp n, const Use& use) const;
  /// How often the value is computed for this use: axes around a reduction, and loops of others, repeat all of
  /// its loop.
  double evaluations(const Use& use) const;
  /// A reduction read at one index, over the leading axes of one kernel, each element once: its loop can be hoisted out
  /// of the others.
  bool canHoist(UOp n) const;

 private:
  double extent(const Use& use, std::span<const int> axes) const;

  std::vector<std::vector<Use>> uses_;  // by node id
  std::vector<UOp> rootShape_;          // by root number: the value whose axes the kernel runs over
  std::vector<UOp> rootOwner_;          // and the value or Store it is for
  TokenTable tokens_;
};

}  // namespace svod
