// Two plans of one model that run in turns, in a process of their own.
#pragma once
#include <map>
#include <string>

#include "driver/compile.h"
#include "search/measure.h"
#include "search/plan_guard.h"

namespace svod {

struct PlanPair {
  const Model &model, &otherModel;  // equal
  const Compilation &candidate, &other;
  Numerics numerics;
  int variablesAt;  // measuredValue()
};

/// Compares their results on the same random inputs, and runs them in turns on all processors that this process may
/// use: with warm caches until the test of measure/sequential_test.h knows (a pair speaks for the candidate where it
/// takes at most 98 % of the time), then, where it won, a few times with cold ones: the product of both ratios must be
/// below 1. Wins, Loses with the reason, or a failure.
TrialResult comparePlans(const PlanPair& pair);

/// Why the plan cannot be run here on random inputs; nothing where it can.
std::string whyNotRun(const Model& model, const Compilation& compilation, int variablesAt);

/// A kernel of the candidate as a part of its time in the other plan, by name.
struct KernelInPlan {
  double warm = 1, cold = 1;  // medians of pairs
  double gained = 0;          // nanoseconds of a run, on all threads together
  bool isSlower = false;      // with warm caches, or so much with cold ones that the product is not below 1
  bool isTold = false;        // there were pairs enough to say so
};
struct KernelsInPlan {
  std::map<std::string, KernelInPlan> kernels;  // those of both plans
  WholeTimes whole;
  bool isNoFaster = false;  // the whole plan, as a kernel is slower
  double otherNs = 0;       // of the other one, with warm caches
  std::string problem;      // why there is nothing
};

/// The times of kernels inside their plans, which differ in opts only. At most `seconds`.
KernelsInPlan timeKernelsInPlans(const PlanPair& pair, double seconds);
/// Of the plans alone, in fewer pairs: they end when it is clear whether the candidate is slower.
KernelsInPlan timeWholePlans(const PlanPair& pair, double seconds);

}  // namespace svod
