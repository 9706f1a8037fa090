// A plan with a step of every kind, sizes that depend on a variable, scratch, weights and a state.
#pragma once
#include "runtime/harness.h"
#include "support/cpu_features.h"

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

/// Makes it one for two more processors: this machine is the first and has its own kernel and weights for the last
/// launch; no machine is the second.
inline void addVariants(PlanBuilder& b) {
  StepId step(b.plan.steps.size() - 1);
  while (!std::holds_alternative<Launch>(b.plan.steps[step].action)) step = StepId(step - 1);
  Launch launch = std::get<Launch>(b.plan.steps[step].action);
  b.plan.kernels.push_back(b.plan.kernels[launch.kernel]);
  b.plan.kernels.back().name += "@here";
  launch.kernel = KernelId(b.plan.kernels.size() - 1);
  launch.buffers[1] = b.constant("w", {10, 20, 30, 40});
  const std::vector<std::string_view> present = hostCpuFeatures();
  b.plan.variants = {{"here", {present.begin(), present.end()}, {{step, launch}}},
                     {"nowhere", {"warp-drive"}, {{step, launch}}}};
}

}  // namespace svod
