// Whole-plan regressions: winners of kernels with which the plan is slower, though each of them is faster.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace svod {

/// A whole plan beside that of -O1.
struct WholeTimes {
  double warm = 1, cold = 1;  // its time as a part of the other's
  bool isSlower = false;      // clearly
};

/// What is asked of a machine.
class GuardMeasure {
 public:
  virtual ~GuardMeasure() = default;
  /// The plan in which the kernels of these winners have their opts, and all others those of -O1.
  virtual WholeTimes with(const std::vector<size_t>& winners) = 0;
  /// No more time.
  virtual bool isOver() = 0;
};

struct GuardResult {
  struct Drop {
    size_t winner;
    std::optional<WholeTimes> times;  // with it, and with those that stay; nothing: there was no time to see
  };
  std::vector<size_t> kept;  // in order
  WholeTimes times;          // with these; where none is left, of the plan of -O1
  std::vector<Drop> dropped;
};

/// Which of the winners 0, 1, .. may stay, of which the first gain most. All of them do unless the plan is slower
/// again; then as many are put into the plan of -O1 as it takes well, by halves: half of what is left, half of that
/// where the plan becomes slower, down to the one that it is. What was not tried when the time is over is dropped. So
/// the plan with those that stay was timed, and was not slower.
GuardResult guardPlan(size_t winners, GuardMeasure& measure);

}  // namespace svod
