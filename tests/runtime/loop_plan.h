// A plan with a loop, weights and copies each way between the host and a device.
#pragma once
#include <string>
#include <vector>

#include "runtime/harness.h"

namespace svod {

/// y = 2x + w, and then 4y + i in trip i of a loop, on device 1; w is a weight, and what a trip leaves goes by the
/// host. Step 4 is the loop, of steps 5 to 8.
inline PlanBuilder loopPlan(const std::string& device) {
  PlanBuilder b;
  b.plan.devices.push_back({device, DeviceKind::Cpu, 0});
  const Expr n = 8;
  const VariableId trips = b.variable("trips", 0, 5), i = b.variable("i", 0, 4, VariableKind::Loop);
  const BufferId x = b.input("x", 8, n), y = b.output("y", 8, n), host = b.arena("host", 8);
  const BufferId w = b.constant("w", {1, 2, 3, 4, 5, 6, 7, 8});
  b.device = 1;
  const BufferId a = b.arena("a", 8), c = b.arena("c", 8), d = b.arena("d", 8);
  b.step(Copy{a, x, 32});
  b.launch("k_double", {a, c}, {R, W}, {n});
  b.launch("k_add", {c, w, a}, {R, R, W}, {n});
  b.step(Copy{host, a, 32});
  b.step(Loop{i, Expr::variable(trips), 4});
  b.step(Copy{c, host, 32});
  b.launch("k_double", {c, d}, {R, W}, {n});
  b.launch("k_add_value", {d}, {RW}, {n, Expr::variable(i)});
  b.step(Copy{host, d, 32});
  b.step(Copy{y, host, 32});
  return b;
}

/// What it gives for x.
inline std::vector<float> loopResult(std::vector<float> x, int64_t trips) {
  for (size_t k = 0; k < 8; k++) {
    x[k] = 2 * x[k] + static_cast<float>(k + 1);
    for (int64_t i = 0; i < trips; i++) x[k] = x[k] * 4 + static_cast<float>(i);
  }
  return x;
}

inline const std::vector<float> kLoopInput = {3, 1, 4, 1, 5, 9, 2, 6};

}  // namespace svod
