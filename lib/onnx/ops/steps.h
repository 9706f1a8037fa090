// Steps that follow each other, as a loop of the plan: what Loop, Scan and the recurrent layers have in common.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "onnx/node.h"

namespace svod {

/// Up to this many steps are laid out one after the other, which lets them be fused; more become a loop.
inline constexpr int64_t kMostUnrolledSteps = 16;

/// What one step is given and what it makes.
struct StepInputs {
  Dim at;                     // 0, 1, ..
  std::vector<Tensor> state;  // from the step before
};
struct StepResults {
  Tensor goesOn;                  // a bool scalar, whether another step follows; null: always
  std::vector<Tensor> state;      // as many as went in, of the same dtypes and dims
  std::vector<Tensor> collected;  // of the same dims in every step
};
/// Null after an error. Called twice: once for the dims of what it makes.
using StepBody = std::function<std::optional<StepResults>(const StepInputs&)>;

struct StepLoop {
  Dim count;      // at most this many steps; null: nothing but `limit` and `goesOn` bounds them
  Tensor limit;   // an i64 scalar that bounds them as well, or null
  Tensor goesOn;  // whether there is a first step, or null
  /// The initial state as values that the first step folds into itself, which stands before the loop then: zeros are
  /// not multiplied. They may be broadcast to the state. Only where all steps take place, and there is always one.
  std::vector<Tensor> folded;
  std::vector<bool> isBackward;  // per collected value: whether the last step comes first; shorter lists mean no
  std::vector<Dim> room;         // per collected value: how many steps to keep when `count` is null, or null
  /// Per collected value: the dims it has in every step, where only a run can tell; null: as the body makes them. A run
  /// in which a step makes others fails.
  std::vector<Dims> stated;
};

struct StepTotals {
  std::vector<Tensor> state;
  std::vector<Tensor> collected;  // with the steps as first axis
  Tensor steps;                   // how many there were, an i64 scalar; null: `count`
};

/// Runs the steps. Null after an error, also when a value changes its shape from step to step.
std::optional<StepTotals> runSteps(OnnxNode& n, const StepLoop& loop, const std::vector<Tensor>& initial,
                                   const StepBody& body);

}  // namespace svod
