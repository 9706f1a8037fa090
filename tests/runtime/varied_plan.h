// A plan with a step of every kind, sizes that depend on a variable, scratch, weights and a state.
#pragma once
#include "runtime/harness.h"

namespace svod {

inline void addVariedSteps(PlanBuilder& b) {
  const VariableId n = b.variable("n", 1, 8), i = b.variable("i", 0, 3, VariableKind::Loop);
  const BufferId x = b.input("x", 8, Expr::variable(n)), y = b.output("y", 8, Expr::variable(n)),
                 z = b.output("z", 4, Expr(4)), w = b.constant("w", {1, 2, 3, 4}), t = b.arena("t", 8),
                 s = b.state("s", 4);
  b.step(Loop{i, 3, 1});
  b.launch("k_add_value", {s}, {RW}, {Expr(4), Expr::variable(i)});
  b.launch("k_reverse", {x, t}, {R, W}, {Expr::variable(n)}, 1, 32);
  b.step(Copy{y, t, Expr::variable(n) * 4});
  b.launch("k_add", {s, w, z}, {R, R, W}, {Expr(4)});
  b.step(HostCall{"log", {{t, R, {Expr::variable(n)}}}, {Expr::variable(n)}});
}

}  // namespace svod
