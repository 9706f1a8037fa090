// What a gate lets us assume: intervals of values and of linear combinations, valid where the gate holds.
#pragma once
#include <unordered_map>
#include <vector>

#include "symbolic/linear.h"

namespace svod {

/// Built for one gate, then asked many times. Belongs to one thread; must not outlive the Graph of its nodes.
class Facts {
 public:
  /// Adds every clause of `gate` (a bool, And of clauses).
  void assume(UOp gate);

  Interval of(UOp n) const;  // bounds of an integer or bool, at least as tight as n.bounds()
  Interval of(const Linear& form) const;
  bool empty() const { return known_.empty() && constraints_.empty(); }
  /// The clauses contradict each other: nothing is ever evaluated under this gate.
  bool contradictory() const { return contradictory_; }

 private:
  // form (without constant, first nonzero sign and divisor normalized) lies in bounds.
  struct Constraint {
    Linear form;
    Interval bounds;
  };
  void assumeClause(UOp clause);
  void constrain(Linear form, Interval bounds);
  void learn(UOp n, Interval bounds);
  void propagate();
  Interval compute(UOp n, int depth) const;

  std::vector<Constraint> constraints_;
  std::unordered_map<uint32_t, Interval> known_;         // by node id
  mutable std::unordered_map<uint32_t, Interval> memo_;  // by node id; looked up only, never iterated
  bool contradictory_ = false;
};

/// What rules of this room know beyond the graph. Callers of rewrite() with symbolic rules pass null or a
/// SymbolicContext (or a struct derived from it) as context.
struct SymbolicContext {
  const Facts* facts = nullptr;
};

}  // namespace svod
